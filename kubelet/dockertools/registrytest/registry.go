package registrytest

import (
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry is a registry that ends with its test. Its methods are for the test's own
// goroutine.
type Registry struct {
	tb      testing.TB
	address string
	images  http.Handler // has them, and knows the protocol
	server  *httptest.Server

	mu             sync.Mutex
	user, password string
	holds          bool // blobs
}

// New starts a registry. When the test ends it stops, and every image that Docker
// has pulled from it is removed: make it before what makes containers of them.
func New(tb testing.TB) *Registry {
	tb.Helper()
	r := &Registry{
		tb:     tb,
		images: registry.New(registry.Logger(log.New(io.Discard, "", 0))),
	}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	r.address = r.server.Listener.Addr().String()
	removeImages(tb, r.address) // those of a killed test that had this address, and old ones
	tb.Cleanup(func() {
		r.server.Listener.Close()
		r.server.CloseClientConnections()
		r.server.Close()
		removeImages(tb, r.address)
	})
	return r
}

// Addr returns the registry's address, such as 127.0.0.1:40123.
func (r *Registry) Addr() string { return r.address }

// SetAuth makes the registry serve those alone who give this user and password,
// from the next request on. An empty user lets everybody in.
func (r *Registry) SetAuth(user, password string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user, r.password = user, password
}

// maxConfig is more than the bytes of an image's configuration, which containerd pulls before the layers.
const maxConfig = 64 << 10

// HoldBlobs makes every layer stop in its middle.
func (r *Registry) HoldBlobs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = true
}

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	user, password, _ := req.BasicAuth()
	allowed := r.user == "" || user == r.user && password == r.password
	holds := r.holds
	r.mu.Unlock()
	// For the rest of a blob Docker asks with an open range, which the library does not
	// know. A registry is free to send all of it again.
	req.Header.Del("Range")
	switch {
	case !allowed:
		w.Header().Set("WWW-Authenticate", `Basic realm="registrytest"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
	case holds && strings.Contains(req.URL.Path, "/blobs/"):
		r.serveHeld(w, req)
	default:
		w.Header().Set("Content-Type", "application/json") // of its errors, as real registries do
		r.images.ServeHTTP(w, req)
	}
}

// serveHeld sends half a layer, and waits for its client to go.
func (r *Registry) serveHeld(w http.ResponseWriter, req *http.Request) {
	whole := httptest.NewRecorder()
	r.images.ServeHTTP(whole, req)
	maps.Copy(w.Header(), whole.Header())
	w.WriteHeader(whole.Code)
	body := whole.Body.Bytes()
	if len(body) < maxConfig {
		w.Write(body)
		return
	}
	w.Write(body[:len(body)/2])
	http.NewResponseController(w).Flush()
	<-req.Context().Done()
}
