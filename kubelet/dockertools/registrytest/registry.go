package registrytest

import (
	"cmp"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"kubelet14/api/unittest"
)

// Registry is a registry that ends with its test. Its methods are for the test's own
// goroutine.
type Registry struct {
	tb      testing.TB
	address string
	images  http.Handler // has them, and knows the protocol
	server  *httptest.Server
	held    chan struct{} // a blob has come to its middle

	mu             sync.Mutex
	user, password string
	over           chan struct{}  // closed when held blobs may go on; nil: no blob is held
	pulls          map[string]int // by image, such as web:1
}

// New starts a registry. When the test ends it stops, and every image that Docker
// has pulled from it is removed: make it before what makes containers of them.
func New(tb testing.TB) *Registry {
	tb.Helper()
	r := &Registry{
		tb:     tb,
		images: registry.New(registry.Logger(log.New(io.Discard, "", 0))),
		held:   make(chan struct{}, 1),
		pulls:  map[string]int{},
	}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	r.address = r.server.Listener.Addr().String()
	removeImages(tb, r.address) // those of a killed test that had this address, and old ones
	tb.Cleanup(func() {
		r.Stop()
		removeImages(tb, r.address)
	})
	return r
}

// Addr returns the registry's address, such as 127.0.0.1:40123.
func (r *Registry) Addr() string { return r.address }

// Stop cuts all connections and refuses new ones.
func (r *Registry) Stop() {
	r.server.Listener.Close()
	r.server.CloseClientConnections()
	r.server.Close()
}

// SetAuth makes the registry serve those alone who give this user and password,
// from the next request on. An empty user lets everybody in.
func (r *Registry) SetAuth(user, password string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user, r.password = user, password
}

// maxConfig is more than the bytes of an image's configuration, which containerd pulls before the layers.
const maxConfig = 64 << 10

// HoldBlobs makes every layer stop in its middle, until MendBlobs: whoever pulls is
// in the middle of it for as long as the test likes.
func (r *Registry) HoldBlobs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = make(chan struct{})
}

// AwaitHeld waits, after HoldBlobs, until some blob has come to its middle.
func (r *Registry) AwaitHeld() {
	r.tb.Helper()
	unittest.Receive(r.tb, r.held, "nobody has asked the registry at "+r.address+" for a blob")
}

// MendBlobs ends HoldBlobs. What was held goes on.
func (r *Registry) MendBlobs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.over)
	r.over = nil
}

// Pulls returns how many pulls of an image have begun, such as web:1. Failed ones are
// among them, but not those that did not reach the registry or ended with its question
// for a password, nor those by digest.
func (r *Registry) Pulls(repoTag string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pulls[tagged(repoTag)]
}

// serve takes the question which manifest a tag stands for, a HEAD, as the beginning
// of a pull: Docker goes on only when it does not have that one.
func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	user, password, _ := req.BasicAuth()
	allowed := r.user == "" || user == r.user && password == r.password
	repo, tag, isManifest := strings.Cut(strings.TrimPrefix(req.URL.Path, "/v2/"), "/manifests/")
	if isManifest && req.Method == http.MethodHead {
		r.pulls[repo+":"+tag]++
	}
	over := r.over
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
	case over != nil && strings.Contains(req.URL.Path, "/blobs/"):
		r.serveHeld(w, req, over)
	default:
		w.Header().Set("Content-Type", "application/json") // of its errors, as real registries do
		r.images.ServeHTTP(w, req)
	}
}

// serveHeld sends a layer in two halves, the second when over is closed.
func (r *Registry) serveHeld(w http.ResponseWriter, req *http.Request, over <-chan struct{}) {
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
	select {
	case r.held <- struct{}{}:
	default:
	}
	select {
	case <-over:
		w.Write(body[len(body)/2:])
	case <-req.Context().Done(): // the client has gone
	}
}

// tagged names the tag of web, which is web:latest.
func tagged(image string) string {
	repo, tag, _ := strings.Cut(image, ":")
	return repo + ":" + cmp.Or(tag, "latest")
}
