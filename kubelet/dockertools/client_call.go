package dockertools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/golang/glog"
)

// The limits are there for a daemon that hangs, not for one that is slow: with a
// hundred pods starting on two cores a single answer can take tens of seconds,
// and giving up on it costs more than waiting.
const (
	callLimit   = 2 * time.Minute
	importLimit = 10 * time.Minute // it sends a whole file system
)

// call runs one request. what says what for, and begins every error. request
// gets a copy of the library's client that works under ctx, and must read all it
// wants before it returns.
func (c *Client) call(ctx context.Context, limit time.Duration, what string, request func(context.Context, *docker.Client) error) error {
	// The cause is no context error, so nobody takes the daemon's silence for a
	// wish of the caller to stop.
	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fmt.Errorf("no answer from Docker at %s within %v; it may hang: `journalctl -u docker` may say why", c.endpoint, limit))
	defer cancel()

	began := time.Now()
	said := exchange{ctx: ctx, network: c.api.HTTPClient.Transport}
	api := *c.api
	api.HTTPClient = &http.Client{Transport: &said}
	err := request(ctx, &api)
	glog.V(6).Infof("docker: %s: %v, error %v", what, time.Since(began), err)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, c.explain(ctx, &said, err))
}

// explain finds the true reason behind the library's error.
func (c *Client) explain(ctx context.Context, said *exchange, err error) error {
	if said.refused == nil {
		if answer := (*docker.Error)(nil); errors.As(err, &answer) { // from a call that dials by itself: the import
			said.refused = newRefusal(answer.Status, answer.Message)
		}
	}
	if said.failed != nil {
		err = said.failed
	}
	var dial *net.OpError
	switch {
	case said.refused != nil:
		return said.refused
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no access to Docker at %s: %w; add the user to the docker group (`sudo usermod -aG docker $USER`, then log in again) or use sudo", c.endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("cannot reach Docker at %s: %w; is it running (`systemctl status docker`), and is this the right -docker_endpoint or $DOCKER_HOST?", c.endpoint, err)
	case said.failed != nil:
		return fmt.Errorf("talk to Docker at %s: %w", c.endpoint, err)
	}
	return err
}

// exchange is the transport of one call. The library takes no context in some
// calls and puts words of its own for some answers; here every request gets the
// context, and what was said is kept.
type exchange struct {
	ctx     context.Context
	network http.RoundTripper
	refused *refusal // the daemon's answer, when it is not a good one
	failed  error    // why there was no answer
}

func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := x.network.RoundTrip(req.WithContext(x.ctx))
	if err != nil {
		x.failed = err
		return nil, err
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		x.failed = err
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	text := struct{ Message string }{string(body)}
	_ = json.Unmarshal(body, &text) // a proxy's page stays as it is
	x.refused = newRefusal(resp.StatusCode, text.Message)
	return resp, nil
}

// refusal is the daemon saying no, in its own words.
type refusal struct {
	status int // of HTTP
	text   string
	kind   error // one of the errors of interface.go, or nil
}

func (r *refusal) Error() string {
	return strings.TrimSpace(r.text)
}

func (r *refusal) Unwrap() error {
	return r.kind
}

// newRefusal finds out the kind. The status alone does not tell: 404 of a
// creation can be the image or the container whose network it joins.
func newRefusal(status int, text string) *refusal {
	r := refusal{status: status, text: text}
	switch lower := strings.ToLower(text); {
	case status == http.StatusNotFound && strings.Contains(lower, "no such image"):
		r.kind = ErrNoSuchImage
	case status == http.StatusNotFound && strings.Contains(lower, "no such container"):
		r.kind = ErrNoSuchContainer
	case status == http.StatusConflict && strings.Contains(lower, "already in use by container"):
		r.kind = ErrNameTaken
	}
	return &r
}
