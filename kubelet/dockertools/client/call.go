package client

import (
	"bytes"
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
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// The limits are there for a daemon that hangs, not for one that is slow: with a
// hundred pods starting on two cores a single answer can take tens of seconds,
// and giving up on it costs more than waiting.
const (
	callLimit   = 2 * time.Minute
	importLimit = 10 * time.Minute // it sends a whole file system
)

// call runs one request within a time limit.
func (c *Client) call(ctx context.Context, limit time.Duration, what string, request func(context.Context, *docker.Client) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, c.noAnswer(limit))
	defer cancel()
	return c.exchange(ctx, what, request)
}

// noAnswer is no context error, so nobody takes the daemon's silence for a wish
// of the caller to stop.
func (c *Client) noAnswer(limit time.Duration) error {
	return fmt.Errorf("no answer from Docker at %s within %v; it may hang: `journalctl -u docker` may say why", c.endpoint, limit)
}

// exchange runs one request. what says what for, and begins every error. request
// gets a copy of the library's client that works under ctx, and must read all it
// wants before it returns.
func (c *Client) exchange(ctx context.Context, what string, request func(context.Context, *docker.Client) error) error {
	began := time.Now()
	// The library takes no context in some calls and puts words of its own for some
	// answers; here every request gets the context, and what was said is kept.
	var refused, failed error // the daemon's answer, when it is not a good one, and why there was none
	api := *c.api
	api.HTTPClient = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		sent := time.Now()
		resp, err := c.api.HTTPClient.Transport.RoundTrip(req.WithContext(ctx))
		c.observe(req, resp, time.Since(sent))
		if err == nil && resp.StatusCode >= http.StatusBadRequest {
			refused, err = readRefusal(resp)
		}
		if err != nil {
			failed = err
			return nil, err
		}
		return resp, nil
	})}
	err := request(ctx, &api)
	glog.V(6).Infof("docker: %s: %v, error %v", what, time.Since(began), err)
	switch {
	case err == nil:
		return nil
	case refused != nil:
		err = refused
	case failed != nil:
		err = c.explain(ctx, failed)
	default:
		err = c.explain(ctx, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// open makes a request that the library cannot make well, and returns the body of
// the answer when it is a good one.
func (c *Client) open(api *docker.Client, method, path string, query url.Values, header http.Header, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequest(method, c.url.ResolveReference(&url.URL{Path: "/" + path, RawQuery: query.Encode()}).String(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	resp, err := api.HTTPClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("HTTP status %s", resp.Status)
	}
	return resp.Body, nil
}

// getJSON makes a request that the library cannot make well, and decodes its answer.
func (c *Client) getJSON(ctx context.Context, limit time.Duration, what, path string, query url.Values, answer any) error {
	return c.call(ctx, limit, what, func(_ context.Context, api *docker.Client) error {
		body, err := c.open(api, http.MethodGet, path, query, nil, nil)
		if err != nil {
			return err
		}
		defer body.Close()
		return json.NewDecoder(body).Decode(answer)
	})
}

// unlessSilent makes a context that ends, for the given reason, when its timer has run
// for so long: whoever hears something resets the timer, or stops it. end is to be
// called in any case.
func unlessSilent(ctx context.Context, limit time.Duration, why error) (_ context.Context, silent *time.Timer, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	silent = time.AfterFunc(limit, func() { cancel(why) })
	return ctx, silent, func() {
		silent.Stop()
		cancel(nil)
	}
}

// explain finds the true reason behind an error.
func (c *Client) explain(ctx context.Context, err error) error {
	var refused *refusal
	var dial *net.OpError
	switch {
	case errors.As(err, &refused): // inside a stream that had begun well
		return refused
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no access to Docker at %s: %w; add the user to the docker group (`sudo usermod -aG docker $USER`, then log in again) or use sudo", c.endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("cannot reach Docker at %s: %w; is it running (`systemctl status docker`), and is this the right -docker_endpoint or $DOCKER_HOST?", c.endpoint, err)
	}
	return fmt.Errorf("talk to Docker at %s: %w", c.endpoint, err)
}

// refusal is the daemon saying no, in its own words.
type refusal struct {
	text string
	kind error // one of the errors of interface.go, or nil
}

func (r *refusal) Error() string { return strings.TrimSpace(r.text) }

func (r *refusal) Unwrap() error { return r.kind }

// readRefusal leaves the body to be read once more, by the library.
func readRefusal(resp *http.Response) (refused, failed error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	text := struct{ Message string }{string(body)}
	_ = json.Unmarshal(body, &text) // a proxy's page stays as it is
	return newRefusal(resp.StatusCode, text.Message), nil
}

// newRefusal finds out the kind. The status alone does not tell: 404 of a
// creation can be the image or the container whose network it joins.
func newRefusal(status int, text string) error {
	r := refusal{text: text}
	switch lower := strings.ToLower(text); {
	case status == http.StatusNotFound && strings.Contains(lower, "no such image"):
		r.kind = dockertools.ErrNoSuchImage
	case status == http.StatusNotFound && strings.Contains(lower, "no such container"):
		r.kind = dockertools.ErrNoSuchContainer
	case status == http.StatusConflict && strings.Contains(lower, "already in use by container"):
		r.kind = dockertools.ErrNameTaken
	case status == http.StatusConflict && strings.Contains(lower, "is not running"):
		r.kind = dockertools.ErrNotRunning
	case status == http.StatusNotImplemented && strings.Contains(lower, "does not support reading"):
		r.kind = dockertools.ErrLogNotKept
	}
	return &r
}
