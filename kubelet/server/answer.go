package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/golang/glog"

	"kubelet14/api"
)

// handler answers a request, or returns an error before it has written anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// httpError is an error with an HTTP status.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

func httpErrorf(status int, format string, args ...any) error {
	return &httpError{status, fmt.Sprintf(format, args...)}
}

// writeError answers with an error: 404 for api.ErrNotFound, 500 for what has no status. The latter is logged, unless the
// client is gone.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	answer := &httpError{http.StatusInternalServerError, err.Error()}
	switch {
	case errors.As(err, &answer):
	case errors.Is(err, api.ErrNotFound):
		answer.status = http.StatusNotFound
	case r.Context().Err() == nil:
		glog.Warningf("info server: %s: %v", r.Pattern, err) // not the path, which the client chooses
	}
	http.Error(w, answer.text, answer.status)
}

// answerJSON sends v as JSON, indented with ?pretty=1.
func answerJSON(w http.ResponseWriter, r *http.Request, v any) error {
	pretty, err := boolParam(r, "pretty", false)
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

// answerList sends items as {"items": [...]}.
func answerList[T any](w http.ResponseWriter, r *http.Request, items []T) error {
	if items == nil {
		items = []T{} // [] and not null
	}
	return answerJSON(w, r, map[string][]T{"items": items})
}

func boolParam(r *http.Request, name string, otherwise bool) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, httpErrorf(http.StatusBadRequest, "%s=%q: it must be 1 or 0", name, text)
	}
	return b, nil
}
