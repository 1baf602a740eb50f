package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
)

// The outcomes of a request, for Client.Observe.
const (
	OutcomeOK      = "ok"
	OutcomeRefused = "refused" // the daemon answered with an error, such as that an image is missing
	OutcomeFailed  = "failed"  // there was no answer, or the caller did not wait for it
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// roundTrip sends a request of a call to the daemon. An answer of 400 or more is an
// *apiError.
//
// A request without a call is the library's own, of New. The API version that it
// gets is that of 20.10, the oldest daemon known to work; requests name no version,
// and so a daemon takes them as its newest.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	r, ok := req.Context().Value(callKey{}).(*call)
	if !ok {
		c.base = req.URL
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"ApiVersion":"1.41"}`)), Request: req}, nil
	}
	began := time.Now()
	resp, err := c.network.RoundTrip(req)
	outcome := OutcomeOK
	switch {
	case err != nil:
		outcome = OutcomeFailed
	case resp.StatusCode >= http.StatusBadRequest:
		outcome = OutcomeRefused
		err = readAPIError(resp)
	}
	if c.Observe != nil {
		c.Observe(operation(req.Method, req.URL.Path), outcome, time.Since(began))
	}
	if err != nil {
		r.failed = err
		return nil, err
	}
	return resp, nil
}

// operation returns what a request asks for, without the name of the object.
func operation(method, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := len(parts) - 1
	switch {
	case parts[0] == "images" && last > 1: // an image's name may have slashes
		parts = []string{"images", "{name}", parts[last]}
	case (parts[0] == "containers" || parts[0] == "exec") && (last > 1 || last == 1 && method == http.MethodDelete):
		parts[1] = "{id}"
	}
	return method + " /" + strings.Join(parts, "/")
}

// apiError is an error that the daemon answered, in its own words.
type apiError struct {
	text string
	kind error // one of the errors of dockertools, or nil
}

func (e *apiError) Error() string { return strings.TrimSpace(e.text) }

func (e *apiError) Unwrap() error { return e.kind }

func isAPIError(err error) bool {
	_, ok := errors.AsType[*apiError](err)
	return ok
}

func readAPIError(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	answer := struct{ Message string }{string(body)}
	_ = json.Unmarshal(body, &answer) // the page of a proxy stays as it is
	return &apiError{answer.Message, errorKind(resp.StatusCode, answer.Message)}
}

// errorKind goes by the words too: 404 of a creation can be for the image or for the
// container whose network it joins.
func errorKind(status int, text string) error {
	text = strings.ToLower(text)
	is := func(s int, words string) bool { return status == s && strings.Contains(text, words) }
	switch {
	case is(http.StatusNotFound, "no such image"):
		return dockertools.ErrNoSuchImage
	case is(http.StatusNotFound, "no such container"):
		return dockertools.ErrNoSuchContainer
	case is(http.StatusConflict, "already in use by container"):
		return dockertools.ErrNameTaken
	case is(http.StatusConflict, "is not running"):
		return dockertools.ErrNotRunning
	case is(http.StatusNotImplemented, "does not support reading"):
		return dockertools.ErrLogNotKept
	}
	return nil
}
