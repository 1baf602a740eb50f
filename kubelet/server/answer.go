package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/golang/glog"
)

// refusal is an error whose text is for the client.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// isStatus says that the client is told an error by this status.
func isStatus(err error, status int) bool {
	var known *refusal
	return errors.As(err, &known) && known.status == status
}

// fail tells the client of an error, in one line.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	known := &refusal{http.StatusInternalServerError, err.Error()}
	if !errors.As(err, &known) && r.Context().Err() == nil { // nobody waits for what the client gave up
		glog.Warningf("info server: %s: %v", r.Pattern, err) // the path is what anybody likes
	}
	http.Error(w, known.text, known.status)
}

// answerJSON sends v, indented with ?pretty=1. Headers come before the status: in 2014
// most of them came after, and clients saw text.
func answerJSON(w http.ResponseWriter, r *http.Request, v any) error {
	pretty, err := boolArgument(r, "pretty", false)
	if err != nil {
		return err
	}
	body, err := json.Marshal(v)
	if pretty {
		body, err = json.MarshalIndent(v, "", "  ")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(body, '\n'))
	return err
}

// list is the form of every answer that holds several things.
type list[T any] struct {
	Items []T `json:"items"`
}

// answerList sends items, [] when there are none.
func answerList[T any](w http.ResponseWriter, r *http.Request, items []T) error {
	if items == nil {
		items = []T{}
	}
	return answerJSON(w, r, list[T]{items})
}

// boolArgument reads ?name=1 and the like.
func boolArgument(r *http.Request, name string, otherwise bool) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, refuse(http.StatusBadRequest, "%s=%q: it must be 1 or 0", name, text)
	}
	return b, nil
}
