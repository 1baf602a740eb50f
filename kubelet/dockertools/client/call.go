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
	"time"

	"github.com/golang/glog"
)

// The limits are for a daemon that hangs, not for one that is slow: when a hundred
// pods start on two cores, an answer can take tens of seconds.
const (
	callLimit   = 2 * time.Minute
	importLimit = 10 * time.Minute // it sends a whole file system
	pullLimit   = 5 * time.Minute  // between two messages of a pull
)

// call is one request to the daemon, from begin to end.
type call struct {
	c      *Client
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer // ends ctx after the limit
	silent bool        // the limit is for the beginning of the answer only
	what   string      // begins the error
	began  time.Time
	failed error // set by roundTrip: the library replaces some errors by others
}

type callKey struct{}

// begin starts the clock of a request: the limit is for the answer of the library,
// or for its beginning and for each Read of open's.
func (c *Client) begin(ctx context.Context, limit time.Duration, what string, args ...any) *call {
	r := &call{c: c, limit: limit, what: fmt.Sprintf(what, args...), began: time.Now()}
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.ctx = context.WithValue(ctx, callKey{}, r)
	r.timer = time.AfterFunc(limit, func() {
		// This is no context error: Docker has failed, the caller has not stopped.
		r.cancel(fmt.Errorf("no answer from Docker at %s for %v; `journalctl -u docker` may say why", c.endpoint, limit))
	})
	return r
}

// end frees the resources of the request and explains its error.
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
		err = fmt.Errorf("no access to Docker at %s: %w; add the user to the docker group (`sudo usermod -aG docker $USER`, then log in again) or use sudo", endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		err = fmt.Errorf("cannot reach Docker at %s: %w; is it running (`systemctl status docker`), and is this the right -docker_endpoint or $DOCKER_HOST?", endpoint, err)
	default:
		err = fmt.Errorf("talk to Docker at %s: %w", endpoint, err)
	}
	return fmt.Errorf("%s: %w", r.what, err)
}

// open sends a request that is not left to the library.
func (r *call) open(method, path string, query url.Values, header http.Header, body io.Reader) (io.ReadCloser, error) {
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
	r.timer.Stop()
	return answerBody{resp.Body, r}, nil
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

// getJSON sends a request that is not left to the library, and ends the call.
func (r *call) getJSON(path string, query url.Values, answer any) error {
	body, err := r.open(http.MethodGet, path, query, nil, nil)
	if err == nil {
		defer body.Close()
		err = json.NewDecoder(body).Decode(answer)
	}
	return r.end(err)
}
