package registrytest

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Registry is a registry that ends with its test. It has the same address and the
// same images however often it is stopped and started again. SetAuth and what
// counts requests may be called by any number of goroutines, all else by the
// test's own.
type Registry struct {
	tb      testing.TB
	address string
	images  http.Handler     // has them, and knows the protocol
	server  *httptest.Server // nil while stopped

	mu             sync.Mutex
	user, password string
	fault          *fault
	pulls          []pull
}

// New starts a registry. When the test ends it stops, and every image that Docker
// has pulled from it is removed: make it before what makes containers of them.
func New(tb testing.TB) *Registry {
	tb.Helper()
	r := &Registry{
		tb:      tb,
		address: reserveAddress(tb),
		images:  registry.New(registry.Logger(log.New(io.Discard, "", 0))),
		fault:   &fault{},
	}
	removeImages(tb, r.address) // those of a killed test that had this address, and old ones
	tb.Cleanup(func() {
		r.Stop()
		removeImages(tb, r.address)
	})
	r.Start()
	return r
}

// Addr returns the registry's address, such as 127.0.0.1:40123.
func (r *Registry) Addr() string { return r.address }

// Start ends Stop.
func (r *Registry) Start() {
	r.tb.Helper()
	listener, err := net.Listen("tcp", r.address)
	check(r.tb, err)
	r.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(r.serve)}}
	r.server.Start()
}

// Stop cuts all connections and refuses new ones.
func (r *Registry) Stop() {
	if r.server == nil {
		return
	}
	r.server.Listener.Close()
	r.server.CloseClientConnections()
	r.server.Close()
	r.server = nil
}

// SetAuth makes the registry serve those alone who give this user and password,
// from the next request on. An empty user lets everybody in.
func (r *Registry) SetAuth(user, password string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user, r.password = user, password
}

func (r *Registry) serve(w http.ResponseWriter, req *http.Request) {
	r.count(req)
	switch {
	case !r.allowed(req):
		w.Header().Set("WWW-Authenticate", `Basic realm="registrytest"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`)
	case isBlob(req):
		r.serveBlob(w, req)
	default:
		r.images.ServeHTTP(w, req)
	}
}

func (r *Registry) allowed(req *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	user, password, _ := req.BasicAuth()
	return r.user == "" || user == r.user && password == r.password
}

// reserveAddress returns an address that is the test's own until it ends. A socket
// that is bound and does not listen keeps the system from giving the port to others.
func reserveAddress(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	check(tb, err)
	tb.Cleanup(func() { syscall.Close(fd) })
	check(tb, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	check(tb, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	address, err := syscall.Getsockname(fd)
	check(tb, err)
	return fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
}

// check ends the test when there is an error.
func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
