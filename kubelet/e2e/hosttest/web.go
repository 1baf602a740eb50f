package hosttest

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// WebServer serves the manifests of its pods, to those who know its password.
type WebServer struct {
	Address string
	t       testing.TB

	mu       sync.Mutex
	pods     map[string]string // manifests by the id of the pod
	instead  *answer           // replaces the pods; nil: nothing does
	changes  int               // of what it answers
	changed  chan struct{}     // closed at the next change
	requests int               // since the latest change
}

type answer struct {
	status int
	body   string
}

// NewWebServer starts a web server without pods.
func NewWebServer(tb testing.TB) *WebServer {
	w := &WebServer{t: tb, pods: map[string]string{}, changed: make(chan struct{})}
	server := httptest.NewServer(w)
	tb.Cleanup(server.Close)
	w.Address = server.Listener.Addr().String()
	return w
}

// URL returns the address of the manifests, with the password.
func (w *WebServer) URL() string { return "http://reader:s3cret@" + w.Address + "/pods.yaml" }

// Put adds or changes a pod.
func (w *WebServer) Put(id, manifest string) { w.change(func() { w.pods[id] = manifest }) }

// Drop removes a pod.
func (w *WebServer) Drop(id string) { w.change(func() { delete(w.pods, id) }) }

// Answer makes the server answer this instead of its pods, until Serve. With the status 0 it answers nothing until then.
func (w *WebServer) Answer(status int, body string) {
	w.change(func() { w.instead = &answer{status, body} })
}

// Serve ends Answer.
func (w *WebServer) Serve() { w.change(func() { w.instead = nil }) }

func (w *WebServer) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.changed)
	w.changed = make(chan struct{})
	w.changes++
	w.requests = 0
}

// AwaitRequests waits until so many requests have come since the latest change. At the
// third one of a kubelet, its source has handled the answer to the first.
func (w *WebServer) AwaitRequests(n int) {
	w.t.Helper()
	unittest.Must(w.t, unittest.Wait(func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.requests < n {
			return fmt.Errorf("%d requests, want %d", w.requests, n)
		}
		return nil
	}))
}

// ServeHTTP implements http.Handler.
func (w *WebServer) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	w.mu.Lock()
	w.requests++
	instead, changed, tag := w.instead, w.changed, fmt.Sprintf(`"%d"`, w.changes)
	var body strings.Builder
	for _, id := range slices.Sorted(maps.Keys(w.pods)) {
		fmt.Fprintf(&body, "---\n%s", w.pods[id])
	}
	if len(w.pods) == 0 {
		body.WriteString("[]")
	}
	w.mu.Unlock()

	user, password, _ := request.BasicAuth()
	switch {
	case user+":"+password != "reader:s3cret":
		writer.WriteHeader(http.StatusUnauthorized)
	case instead == nil:
		writer.Header().Set("ETag", tag) // as file servers do; it leads to 304
		http.ServeContent(writer, request, "pods.yaml", time.Time{}, strings.NewReader(body.String()))
	case instead.status == 0:
		select {
		case <-changed:
			w.ServeHTTP(writer, request)
		case <-request.Context().Done():
		}
	default:
		writer.WriteHeader(instead.status)
		fmt.Fprint(writer, instead.body)
	}
}
