package server

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestMain(m *testing.M) {
	logs, err := os.MkdirTemp("", "kubelet14-server-")
	if err != nil {
		panic(err)
	}
	flag.Set("log_dir", logs)
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"), goleak.Cleanup(func(code int) {
		os.RemoveAll(logs)
		os.Exit(code)
	}))
}

const testToken = "a-token-for-the-tests"

// fakeKubelet says what a test has told it to. Its fields may be changed while the
// server runs, by change.
type fakeKubelet struct {
	mu       sync.Mutex
	health   error
	pods     []api.Pod
	statuses []api.PodStatus
	err      error // of Statuses
	events   []api.Event
	more     chan struct{}
	load     api.Load
	sources  []api.SourceStatus
	newer    chan struct{} // closed by publish

	// What is asked of a container; nil does nothing, and succeeds.
	logs  func(ctx context.Context, pod, container string, opts api.LogOptions, out io.Writer) error
	run   func(ctx context.Context, pod, container string, command []string, out io.Writer) (int, error)
	stats func(ctx context.Context, pod, container string) (api.ContainerStats, error)
}

func (k *fakeKubelet) change(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do()
}

// happens adds an event and tells those who wait for one.
func (k *fakeKubelet) happens(e api.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.Seq = uint64(len(k.events) + 1)
	k.events = append(k.events, e)
	if k.more != nil {
		close(k.more)
		k.more = nil
	}
}

func (k *fakeKubelet) Health() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.health
}

func (k *fakeKubelet) Pods() []api.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods
}

func (k *fakeKubelet) Statuses() ([]api.PodStatus, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.newer == nil {
		k.newer = make(chan struct{})
	}
	return append([]api.PodStatus{}, k.statuses...), k.newer, k.err
}

// publish makes a new snapshot after a change.
func (k *fakeKubelet) publish(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do()
	if k.newer != nil {
		close(k.newer)
		k.newer = nil
	}
}

func (k *fakeKubelet) allSources() []api.SourceStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sources
}

func (k *fakeKubelet) Events(after uint64) ([]api.Event, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.more == nil {
		k.more = make(chan struct{})
	}
	return k.events[min(after, uint64(len(k.events))):], k.more
}

func (k *fakeKubelet) Load() api.Load {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.load
}

func (k *fakeKubelet) ContainerLogs(ctx context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
	if k.logs == nil {
		return nil
	}
	return k.logs(ctx, pod, container, opts, out)
}

func (k *fakeKubelet) RunInContainer(ctx context.Context, pod, container string, command []string, out io.Writer) (int, error) {
	if k.run == nil {
		return 0, nil
	}
	return k.run(ctx, pod, container, command, out)
}

func (k *fakeKubelet) ContainerStats(ctx context.Context, pod, container string) (api.ContainerStats, error) {
	if k.stats == nil {
		return api.ContainerStats{}, nil
	}
	return k.stats(ctx, pod, container)
}

// serve starts a server of k on a free port of 127.0.0.1, which ends with the test.
func serve(t testing.TB, k *fakeKubelet, change ...func(*Options)) *Server {
	t.Helper()
	s, err := New(testOptions(k, change...))
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	return s
}

func testOptions(k *fakeKubelet, change ...func(*Options)) Options {
	opts := Options{
		Kubelet: k, Sources: k.allSources, Scheme: v1beta1.NewScheme(),
		Address: "127.0.0.1", Hostnames: []string{"test-host"}, Token: testToken, TokenFile: "/root-dir/token",
		Debugging: true, Version: "v-test", Metrics: NewMetrics(),
	}
	for _, do := range change {
		do(&opts)
	}
	return opts
}

// start lets a server answer until the test ends.
func start(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server has ended with %v", err)
		}
	})
}

// reply is what a client gets.
type reply struct {
	status  int
	header  http.Header
	trailer http.Header
	body    string
	close   bool // the connection ends
}

// ask makes a request, such as ask(t, s, "GET /pods"), and reads the whole answer. Set
// changes the request first.
func ask(t testing.TB, s *Server, request string, set ...func(*http.Request)) reply {
	t.Helper()
	return askBy(t, http.DefaultTransport, strings.TrimSuffix(s.URL(), "/"), request, set...)
}

// askBy asks whoever a transport finds at base.
func askBy(t testing.TB, transport http.RoundTripper, base, request string, set ...func(*http.Request)) reply {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a server that hangs ends the test
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range set {
		do(r)
	}
	resp, err := transport.RoundTrip(r) // follows no redirect
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: read the answer: %v", request, err)
	}
	return reply{resp.StatusCode, resp.Header, resp.Trailer, string(body), resp.Close}
}

// withToken lets a request in everywhere.
func withToken(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }

// with sets a header.
func with(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		if name == "Host" {
			r.Host = value
			return
		}
		r.Header.Set(name, value)
	}
}
