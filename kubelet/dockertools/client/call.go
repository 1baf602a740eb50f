package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// The limits are meant for a daemon that hangs, not for a slow one: when a hundred pods
// start on two cores, an answer can take tens of seconds.
const (
	callLimit   = 2 * time.Minute
	importLimit = 10 * time.Minute // it sends a whole file system
	pullLimit   = 5 * time.Minute  // between two messages of a pull

	maxErrorSize = 64 << 10 // bytes to read of an error
)

// call is one call of a method, from begin to end. It makes one request to the daemon, or several in a row.
type call struct {
	c      *Client
	ctx    context.Context // of the requests
	cancel context.CancelCauseFunc
	what   string        // begins the error
	limit  time.Duration // until an answer begins, and for each Read of it
	timer  *time.Timer   // ends ctx after the limit
	silent bool          // no limit for a Read
	began  time.Time
	failed error // of the last request, since the library decorates some errors and replaces others
}

type callKey struct{}

// begin returns a call with the usual limit.
func (c *Client) begin(ctx context.Context, what string, args ...any) *call {
	r := &call{c: c, limit: callLimit, what: fmt.Sprintf(what, args...), began: time.Now()}
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.ctx = context.WithValue(ctx, callKey{}, r)
	r.timer = time.AfterFunc(r.limit, func() {
		// This is not a context error: Docker failed, the caller did not give up.
		r.cancel(fmt.Errorf("no answer from Docker at %s for %v; `journalctl -u docker` may say why", c.endpoint, r.limit))
	})
	return r
}

// end frees the resources of the call and explains its error.
func (r *call) end(err error) error {
	defer r.cancel(nil)
	r.timer.Stop()
	glog.V(6).Infof("docker: %s: %v, error %v", r.what, time.Since(r.began), err)
	if err == nil {
		return nil
	}
	if r.failed != nil {
		err = r.failed
	}
	var dial *net.OpError
	switch endpoint := r.c.endpoint; {
	case isAPIError(err): // in the daemon's own words
	case r.ctx.Err() != nil:
		err = context.Cause(r.ctx)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("no access to Docker at %s: %w; "+
			"add the user to the docker group (`sudo usermod -aG docker $USER`, then log in again) or use sudo", endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		err = fmt.Errorf("cannot reach Docker at %s: %w; "+
			"is it running (`systemctl status docker`), and is this the right -docker_endpoint or $DOCKER_HOST?", endpoint, err)
	default:
		err = fmt.Errorf("talk to Docker at %s: %w", endpoint, err)
	}
	return fmt.Errorf("%s: %w", r.what, err)
}

// open sends a request without the library. The answer need not be closed: it ends with
// ctx, so at the latest with the call.
func (r *call) open(method, path string, query url.Values, header http.Header, body io.Reader) (io.Reader, error) {
	target := r.c.base.ResolveReference(&url.URL{Path: "/" + path, RawQuery: query.Encode()})
	req, err := http.NewRequestWithContext(r.ctx, method, target.String(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	resp, err := r.c.api.HTTPClient.Do(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// getJSON sends a request without the library, and decodes the answer.
func (r *call) getJSON(path string, query url.Values, answer any) error {
	body, err := r.open(http.MethodGet, path, query, nil, nil)
	if err != nil {
		return err
	}
	return json.NewDecoder(body).Decode(answer)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// roundTrip sends a request of a call to the daemon. An answer of 400 or more is an *apiError.
//
// A request without a call is the one that the library sends in New. It is told the API
// version of 20.10, the oldest daemon known to work. Requests name no version, so a daemon
// reads them as its newest: 20.10 knows none after 1.41, and 29 none before 1.44.
func (c *Client) roundTrip(req *http.Request) (*http.Response, error) {
	r, ok := req.Context().Value(callKey{}).(*call)
	if !ok {
		c.base = req.URL
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"ApiVersion":"1.41"}`)), Request: req}, nil
	}
	began := time.Now()
	r.timer.Reset(r.limit)
	defer r.timer.Stop()
	resp, err := c.network.RoundTrip(req)
	outcome := "ok"
	switch {
	case err != nil:
		outcome = "failed"
	case resp.StatusCode >= http.StatusBadRequest:
		outcome = "refused"
		err = readAPIError(resp)
	}
	if c.Observe != nil {
		c.Observe(operation(req.Method, req.URL.Path), outcome, time.Since(began))
	}
	if r.failed = err; err != nil {
		return nil, err
	}
	resp.Body = answerBody{resp.Body, r}
	return resp, nil
}

type answerBody struct {
	io.ReadCloser
	call *call
}

func (b answerBody) Read(p []byte) (int, error) {
	if !b.call.silent {
		b.call.timer.Reset(b.call.limit)
		defer b.call.timer.Stop()
	}
	return b.ReadCloser.Read(p)
}

var (
	imageName = regexp.MustCompile(`^(GET /images/).+(/json)$|^(DELETE /images/).+$`)
	objectID  = regexp.MustCompile(`/[0-9a-f]{12,}`)
)

// operation returns the method and path of a request, without the name of the object.
func operation(method, path string) string {
	request := imageName.ReplaceAllString(method+" "+path, "$1$3{name}$2")
	return objectID.ReplaceAllString(request, "/{id}")
}

// apiError is an error that the daemon answered, in its own words.
type apiError struct {
	text string
	kind error // one of the errors of dockertools, or nil
}

// Error returns a single line, whatever a registry answered.
func (e *apiError) Error() string { return api.OneLine(e.text) }

func (e *apiError) Unwrap() error { return e.kind }

func isAPIError(err error) bool {
	_, ok := errors.AsType[*apiError](err)
	return ok
}

// readAPIError reads an error within the time limit of its request.
func readAPIError(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorSize))
	if err != nil {
		return err
	}
	answer := struct{ Message string }{strings.TrimSpace(string(body))}
	_ = json.Unmarshal(body, &answer) // a proxy's page is left as it is
	if answer.Message == "" {
		answer.Message = fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return &apiError{answer.Message, errorKind(resp.StatusCode, answer.Message)}
}

// errorKind also looks at the words: a 404 for a creation can mean the image, or the container whose network it joins.
func errorKind(status int, text string) error {
	text = strings.ToLower(text)
	is := func(s int, words string) bool { return status == s && strings.Contains(text, words) }
	switch {
	case is(http.StatusNotFound, "no such image"):
		return dockertools.ErrNoSuchImage
	case is(http.StatusNotFound, "no such container"):
		return dockertools.ErrNoSuchContainer
	case is(http.StatusNotFound, "network ") && strings.HasSuffix(text, " not found"):
		return dockertools.ErrNoSuchNetwork
	case is(http.StatusConflict, "already in use by container"):
		return dockertools.ErrNameTaken
	case is(http.StatusConflict, "is not running"):
		return dockertools.ErrNotRunning
	case is(http.StatusNotImplemented, "does not support reading"):
		return dockertools.ErrLogNotKept
	}
	return nil
}
