package e2e

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
	"kubelet14/kubelet/e2e/hosttest"
)

// newSourcesHost makes a host with a web server.
func newSourcesHost(t testing.TB) *host {
	t.Helper()
	h := newHost(t)
	h.web = &webServer{t: t, pods: map[string]string{}, changed: make(chan struct{})}
	server := httptest.NewServer(h.web)
	t.Cleanup(server.Close)
	h.web.address = server.Listener.Addr().String()
	return h
}

func (h *host) startFrom(sources ...string) *hosttest.Process {
	h.T.Helper()
	return h.StartWith(h.from(sources...)...)
}

// from returns the flags that name sources.
func (h *host) from(sources ...string) []string {
	var flags []string
	for _, source := range sources {
		switch source {
		case "file":
			flags = append(flags, "-config="+h.Manifests, "-file_check_frequency=1s")
		case "http":
			flags = append(flags, "-manifest_url="+h.web.url(), "-http_check_frequency=50ms")
		case "etcd":
			flags = append(flags, "-etcd_servers="+h.etcd.Endpoint())
		}
	}
	return flags
}

// put writes the manifest of a pod into its source. The full name of the pod ends with
// the source.
func (h *host) put(pod, manifest string) {
	h.T.Helper()
	manifest = strings.ReplaceAll(manifest, "HELLO", hosttest.HelloImage)
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.Write(id, manifest)
	case "http":
		h.web.put(id, manifest)
	case "etcd":
		_, err := h.etcd.Client().Put(h.T.Context(), h.key(id), manifest)
		h.Must(err)
	}
}

func (h *host) putSleepers(pods ...string) {
	h.T.Helper()
	for _, pod := range pods {
		id, _, _ := strings.Cut(pod, ".default.")
		h.put(pod, hosttest.Sleeper(id))
	}
}

// drop takes a pod out of its source.
func (h *host) drop(pod string) {
	h.T.Helper()
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.Remove(id)
	case "http":
		h.web.drop(id)
	case "etcd":
		_, err := h.etcd.Client().Delete(h.T.Context(), h.key(id))
		h.Must(err)
	}
}

// key returns where etcd holds a pod of this host.
func (h *host) key(id string) string { return "/registry/hosts/" + h.Hostname + "/kubelet/" + id }

// webServer serves the manifests of its pods.
type webServer struct {
	t       testing.TB
	address string

	mu       sync.Mutex
	pods     map[string]string // manifests by the id of the pod
	instead  *answer           // replaces the pods; nil: nothing does
	changes  int               // of the answer
	changed  chan struct{}     // closed at the next change
	requests int               // since the latest change
}

// answer is what a web server answers in place of its pods.
type answer struct {
	status int // 0: nothing, until there is another answer
	body   string
}

func (w *webServer) url() string { return "http://reader:s3cret@" + w.address + "/pods.yaml" }

func (w *webServer) put(id, manifest string) { w.change(func() { w.pods[id] = manifest }) }

func (w *webServer) drop(id string) { w.change(func() { delete(w.pods, id) }) }

// answers makes the server answer something else than its pods; nil ends that.
func (w *webServer) answers(instead *answer) { w.change(func() { w.instead = instead }) }

func (w *webServer) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.changed)
	w.changed = make(chan struct{})
	w.changes++
	w.requests = 0
}

// awaitRequests waits until so many requests have come since the latest change. At the
// third one of a kubelet, its source has handled the answer to the first.
func (w *webServer) awaitRequests(n int) {
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
func (w *webServer) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
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
