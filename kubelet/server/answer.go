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

// writeError answers with an error: with its own status, 404 for api.ErrNotFound, and 500 for others, which are logged.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	answer := &httpError{http.StatusInternalServerError, err.Error()}
	switch {
	case errors.As(err, &answer):
	case errors.Is(err, api.ErrNotFound):
		answer.status = http.StatusNotFound
	case r.Context().Err() == nil: // the client is not gone
		glog.Warningf("info server: %s: %v", r.Pattern, err) // not the path, which the client chooses
	}
	if answer.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kubelet14"`)
	}
	http.Error(w, answer.text, answer.status)
}

// asJSON answers with the value of get as JSON, indented with ?pretty=1.
func asJSON(get func(r *http.Request) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		pretty, err := boolParam(r, "pretty", false)
		if err != nil {
			return err
		}
		v, err := get(r)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		if pretty {
			encoder.SetIndent("", "  ")
		}
		return encoder.Encode(v)
	}
}

// list is the JSON form of several items: {"items": [...]}.
func list[T any](items []T) any { return map[string][]T{"items": append([]T{}, items...)} } // [] and not null

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
