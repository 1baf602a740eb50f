//go:build chaos

package chaos

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"regexp"
	"sync"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// proxy is what the kubelet takes for Docker. It spoils the next requests as it is told.
type proxy struct {
	Endpoint string
	reverse  httputil.ReverseProxy

	mu     sync.Mutex
	armed  []spoiling
	honest chan struct{} // closed at the next calm
	broken chan struct{} // closed when all connections are broken
}

// spoiling spoils one request.
type spoiling struct {
	how  string
	of   *regexp.Regexp // its method and path
	late time.Duration
}

type spoilingKey struct{}

var errSpoilt = errors.New("spoilt by the test")

// newProxy starts a proxy at a path, in front of the daemon at another one.
func newProxy(t *testing.T, path, daemon string) *proxy {
	p := &proxy{Endpoint: "unix://" + path, honest: make(chan struct{}), broken: make(chan struct{})}
	p.reverse = httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "docker"
		},
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", daemon)
		}},
		ModifyResponse: p.spoil,
		// An answer that does not come breaks the connection, as a daemon that ends does.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	listener, err := net.Listen("unix", path)
	unittest.Must(t, err)
	server := &http.Server{Handler: p}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(listener) })
	t.Cleanup(func() {
		server.Close()
		serving.Wait()
	})
	return p
}

// arm spoils the next request of a kind.
func (p *proxy) arm(s spoiling) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = append(p.armed, s)
}

// breakAll breaks all connections, also those of streams.
func (p *proxy) breakAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.broken)
	p.broken = make(chan struct{})
}

// calm ends all spoiling; late answers come now.
func (p *proxy) calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = nil
	close(p.honest)
	p.honest = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	var s spoiling
	for i := range p.armed {
		if p.armed[i].of.MatchString(r.Method + " " + r.URL.Path) {
			s = p.armed[i]
			p.armed = append(p.armed[:i], p.armed[i+1:]...)
			break
		}
	}
	broken := p.broken
	p.mu.Unlock()
	switch s.how {
	case "request lost":
		panic(http.ErrAbortHandler)
	case "answer is an error":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, `{"message":"`+errSpoilt.Error()+`"}`)
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), spoilingKey{}, s))
	defer cancel()
	go func() {
		select {
		case <-broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// spoil spoils an answer of the daemon.
func (p *proxy) spoil(resp *http.Response) error {
	s := resp.Request.Context().Value(spoilingKey{}).(spoiling)
	switch s.how {
	case "answer lost":
		return errSpoilt
	case "answer late":
		p.mu.Lock()
		honest := p.honest
		p.mu.Unlock()
		select {
		case <-time.After(s.late):
		case <-honest:
		case <-resp.Request.Context().Done():
		}
	case "answer cut":
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(resp.Body, 20), failing{}), resp.Body}
	}
	return nil
}

// failing is a reader that fails.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errSpoilt }
