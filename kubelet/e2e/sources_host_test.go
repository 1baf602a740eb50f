package e2e

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/config/etcdtest"
)

// sourcesHost is a host that has a web server and, where a test wants it, an etcd
// beside its directory of manifests. Its pods are given by their full names, which
// end with their source.
type sourcesHost struct {
	*host
	web  *webServer
	etcd *etcdtest.Server
}

func newSourcesHost(t testing.TB) *sourcesHost {
	t.Helper()
	return &sourcesHost{host: newHost(t), web: startWebServer(t)}
}

// from are the flags that name sources.
func (h *sourcesHost) from(sources ...string) []string {
	var flags []string
	for _, source := range sources {
		switch source {
		case "file":
			flags = append(flags, "-config="+h.manifests)
		case "http":
			flags = append(flags, "-manifest_url="+h.web.url(), "-http_check_frequency=50ms")
		case "etcd":
			flags = append(flags, "-etcd_servers="+h.etcd.Endpoint())
		}
	}
	return flags
}

// put makes a pod wanted, or changes it. The manifest may use HELLO for the demo's
// image.
func (h *sourcesHost) put(pod, manifest string) {
	h.t.Helper()
	manifest = strings.ReplaceAll(manifest, "HELLO", helloImage)
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.write(id+".yaml", manifest)
	case "http":
		h.web.put(id, manifest)
	case "etcd":
		h.etcd.Ctl("put", h.key(id), manifest)
	}
}

// putSleepers makes pods of one container wanted.
func (h *sourcesHost) putSleepers(pods ...string) {
	h.t.Helper()
	for _, pod := range pods {
		id, _, _ := strings.Cut(pod, ".default.")
		h.put(pod, sleeper(id))
	}
}

// drop takes a pod out of its source.
func (h *sourcesHost) drop(pod string) {
	h.t.Helper()
	switch id, source, _ := strings.Cut(pod, ".default."); source {
	case "file":
		h.remove(id + ".yaml")
	case "http":
		h.web.drop(id)
	case "etcd":
		h.etcd.Ctl("del", h.key(id))
	}
}

// key is where etcd holds a pod of this host.
func (h *sourcesHost) key(id string) string {
	return "/registry/hosts/" + h.hostname + "/kubelet/" + id
}

// sleepersUp waits for pods of one container, and returns the ids of all live
// containers.
func (h *sourcesHost) sleepersUp(pods ...string) map[string]string {
	h.t.Helper()
	h.eventually(fmt.Sprint("the pods ", pods, " are up"), func() error { return h.sleepersAre(pods...) })
	return h.ids()
}

// replaces does what must make the kubelet replace the container "main" of a pod,
// and waits for that. All other live containers must be those of want, which then
// has the new one too.
func (h *sourcesHost) replaces(want map[string]string, what, pod string, do func(old container)) {
	h.t.Helper()
	old := h.live(pod, "main")
	do(old)
	h.eventually(what, func() error { return h.replaced(pod, "main", old) })
	now := h.live(pod, "main")
	delete(want, old.name)
	want[now.name] = now.id
	h.mustBe(what, want)
}

// mends shows that the kubelet looks after a pod: it kills the container "main" and
// waits for the next. What the kubelet was not to do by then, it has not done.
func (h *sourcesHost) mends(want map[string]string, when, pod string) {
	h.t.Helper()
	h.replaces(want, "a killed container of "+pod+" comes back "+when, pod, func(old container) {
		if err := h.docker.KillContainer(docker.KillContainerOptions{ID: old.id}); err != nil {
			h.t.Fatal(err)
		}
	})
}

// removes waits until nothing is left of a pod. All other live containers must be
// those of want, of which the pod's are taken.
func (h *sourcesHost) removes(want map[string]string, pod string) {
	h.t.Helper()
	h.eventually("pod "+pod+" goes", func() error { return h.gone(pod) })
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.Split(name, "_")[2] == pod })
	h.mustBe("when pod "+pod+" is gone", want)
}

// webServer serves the manifests of its pods. Its address stays the same when it is
// stopped and started.
type webServer struct {
	t       testing.TB
	address string
	login   string       // "user:password" that every request must have; empty: none
	server  *http.Server // nil while it is down

	mu       sync.Mutex
	pods     map[string]string // manifests by the pod's id
	instead  *answer           // of the pods; nil: nothing
	changes  int               // of what it answers
	changed  chan struct{}     // closed at the next one
	requests int               // since the latest one
}

// answer is what a web server says that is not well.
type answer struct {
	status int // 0: nothing, until there is another answer
	body   string
}

func startWebServer(t testing.TB) *webServer {
	t.Helper()
	w := &webServer{t: t, address: etcdtest.ReserveAddress(t), pods: map[string]string{}, changed: make(chan struct{})}
	t.Cleanup(w.stop)
	w.start()
	return w
}

func (w *webServer) url() string {
	login := w.login
	if login != "" {
		login += "@"
	}
	return "http://" + login + w.address + "/pods.yaml"
}

// start makes the server listen.
func (w *webServer) start() {
	w.t.Helper()
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server = &http.Server{Handler: w}
	go w.server.Serve(listener)
}

// stop ends the server and all its connections.
func (w *webServer) stop() {
	if w.server != nil {
		w.server.Close()
		w.server = nil
	}
}

func (w *webServer) put(id, manifest string) {
	w.change(func() { w.pods[id] = manifest })
}

func (w *webServer) drop(id string) {
	w.change(func() { delete(w.pods, id) })
}

// says makes the server answer something else than its pods. A nil answer ends that.
func (w *webServer) says(instead *answer) {
	w.change(func() { w.instead = instead })
}

func (w *webServer) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.changed)
	w.changed = make(chan struct{})
	w.changes++
	w.requests = 0
}

// asked waits until so many requests have come since the answer has changed. At the
// third of one kubelet, its source has sent what came of the first.
func (w *webServer) asked(times int) {
	w.t.Helper()
	err := waitFor(func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.requests < times {
			return fmt.Errorf("%d requests have come, want %d", w.requests, times)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
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
	case w.login != "" && w.login != user+":"+password:
		writer.WriteHeader(http.StatusUnauthorized)
	case instead == nil:
		writer.Header().Set("ETag", tag) // as servers of files do; it brings 304 too
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
