package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/netutil"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/node"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/wishes"
)

func TestMain(m *testing.M) { unittest.Main(m) }

const testToken = "a-token-for-the-tests"

var noon = time.Date(2014, 10, 23, 12, 0, 0, 0, time.UTC)

// fakeKubelet returns what a test has set. While the server runs, a test changes it with set.
type fakeKubelet struct {
	mu       sync.Mutex
	health   error
	desired  []api.Pod
	statuses []api.PodStatus
	err      error // of Statuses
	events   []api.Event
	load     api.Load
	rows     map[string][]trace.Row
	sources  []api.SourceStatus
	node     node.Status
	newer    chan struct{} // closed by publish

	// print writes the output of logs and commands. A nil function writes nothing and succeeds.
	print func(ctx context.Context, asked string, out io.Writer) (exitCode int, err error)
	exec  func(ctx context.Context, asked string, streams api.Streams) (exitCode int, err error) // instead, for commands
	stats func(pod, container string) (api.ContainerStats, error)
	used  int // calls for logs and commands
	looks int // calls of Statuses
}

func (k *fakeKubelet) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

// publish makes a new snapshot.
func (k *fakeKubelet) publish() {
	k.set(func() {
		if k.newer != nil {
			close(k.newer)
		}
		k.newer = nil
	})
}

// fulfil makes the kubelet do at once what people want of its pods.
func (k *fakeKubelet) fulfil(t testing.TB, o *Options) {
	people, err := wishes.Open(t.TempDir())
	unittest.Must(t, err)
	syncs := time.Duration(0)
	apply := func() {
		k.set(func() {
			syncs++ // each begins the restarts of before, also those of its own millisecond
			for i := range k.statuses {
				p := &k.statuses[i]
				pod := &plan.Pod{Pod: api.Pod{Name: p.Name, Namespace: p.Namespace, Source: p.Source}}
				begun := plan.Observed{Listed: dockertools.Listed{Restart: time.Now().Add(syncs * time.Hour).UnixMilli()}}
				p.Phase = api.PodRunning
				if people.Apply(pod, []plan.Observed{begun}).Stopped != "" {
					p.Phase = api.PodStopped
				}
			}
		})
		people.Keep(func(_, _ string) bool { return true })
		k.publish()
	}
	people.Tell(func(_, _, _, _ string) {}, func() { go apply() }) // a wish waits for no sync
	o.Wishes = people
}

func (k *fakeKubelet) addEvent(e api.Event) {
	k.set(func() {
		e.Seq = uint64(len(k.events) + 1)
		k.events = append(k.events, e)
	})
}

func (k *fakeKubelet) Health() (err error)    { k.set(func() { err = k.health }); return err }
func (k *fakeKubelet) Pods() (pods []api.Pod) { k.set(func() { pods = k.desired }); return pods }
func (k *fakeKubelet) Load() (load api.Load)  { k.set(func() { load = k.load }); return load }
func (k *fakeKubelet) Comparisons() (rows map[string][]trace.Row) {
	k.set(func() { rows = k.rows })
	return rows
}
func (k *fakeKubelet) usedTimes() (n int) { k.set(func() { n = k.used }); return n }
func (k *fakeKubelet) Sources() (all []api.SourceStatus) {
	k.set(func() { all = k.sources })
	return all
}

func (k *fakeKubelet) Node() (n node.Status) { k.set(func() { n = k.node }); return n }

func (k *fakeKubelet) Statuses() ([]api.PodStatus, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.newer == nil {
		k.newer = make(chan struct{})
	}
	k.looks++
	var pods []api.PodStatus
	text, err := json.Marshal(k.statuses) // the server may change what it gets
	if err := errors.Join(err, json.Unmarshal(text, &pods)); err != nil {
		panic(err)
	}
	return pods, k.newer, k.err
}

func (k *fakeKubelet) Events(after uint64) (events []api.Event) {
	k.set(func() { events = slices.Clone(k.events[min(after, uint64(len(k.events))):]) })
	return events
}

func (k *fakeKubelet) ContainerLogs(ctx context.Context, pod, container string, opts api.LogOptions, out io.Writer) error {
	_, err := k.RunInContainer(ctx, pod, container, []string{fmt.Sprintf("%+v", opts)}, api.Streams{Stdout: out, Stderr: out})
	return err
}

func (k *fakeKubelet) RunInContainer(ctx context.Context, pod, container string, command []string, streams api.Streams) (int, error) {
	k.set(func() { k.used++ })
	call := fmt.Sprintf("%s %s %q", pod, container, command)
	switch {
	case k.exec != nil:
		return k.exec(ctx, call, streams)
	case k.print == nil:
		return 0, nil
	}
	return k.print(ctx, call, streams.Stdout)
}

func (k *fakeKubelet) ContainerStats(_ context.Context, pod, container string) (api.ContainerStats, error) {
	if k.stats == nil {
		return api.ContainerStats{}, nil
	}
	return k.stats(pod, container)
}

// withContainers is a kubelet with a pod web of two containers, and twins of one name from two sources.
func withContainers() *fakeKubelet {
	pod := func(name, uid, source string, containers ...string) api.PodStatus {
		p := api.PodStatus{Name: name, Namespace: "default", UID: uid, Source: source, Phase: api.PodRunning, Ready: true}
		for _, c := range append(containers, "net") {
			p.Containers = append(p.Containers, api.ContainerStatus{Name: c, Image: "of-" + source, State: runningState(noon, "")})
		}
		return p
	}
	return &fakeKubelet{statuses: []api.PodStatus{
		pod("twin", "twin-of-etcd", "etcd", "app"), pod("twin", "twin-of-file", "file", "app"), pod("web", "web-uid", "file", "app", "helper"),
	}}
}

func runningState(since time.Time, message string) api.ContainerState {
	return api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: since, Message: message}}
}

func waitingState(reason, message string) api.ContainerState {
	return api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminatedState(code int, reason string, at time.Time) api.ContainerState {
	return api.ContainerState{Terminated: &api.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: at}}
}

// testServer is a server with a client.
type testServer struct {
	*Server
	transport *http.Transport
	base      string
}

func testOptions(k *fakeKubelet, change ...func(*Options)) Options {
	opts := Options{
		Trace:   &trace.Trace{},
		Source:  os.DirFS("."),
		Kubelet: k, Sources: k.Sources, Node: k.Node, Scheme: v1.NewScheme(), Address: "127.0.0.1", Hostname: "test-host",
		Token: testToken, TokenFile: "/root-dir/token", Debugging: true, Version: "v-test", Metrics: NewMetrics(),
	}
	for _, do := range change {
		do(&opts)
	}
	return opts
}

// serve starts a server of k that ends with the test.
func serve(t testing.TB, k *fakeKubelet, change ...func(*Options)) *testServer {
	t.Helper()
	s, err := New(testOptions(k, change...))
	unittest.Must(t, err)
	return start(t, s)
}

func start(t testing.TB, server *Server) *testServer {
	t.Helper()
	at := server.listener.Addr()
	return startOn(t, server, func() (net.Conn, error) {
		return net.Dial(at.Network(), strings.Replace(at.String(), "[::]", "127.0.0.1", 1))
	})
}

func startOn(t testing.TB, server *Server, dial func() (net.Conn, error)) *testServer {
	t.Helper()
	s := &testServer{Server: server, base: "http://localhost", transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return dial() },
	}}
	if server.certificate != nil {
		roots := x509.NewCertPool()
		roots.AddCert(server.certificate)
		s.base, s.transport.TLSClientConfig = "https://localhost", &tls.Config{RootCAs: roots}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		s.transport.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// inBubble runs a test in a synctest bubble, against a server with connections in memory.
func inBubble(t *testing.T, k *fakeKubelet, test func(t *testing.T, s *testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, serveInMemory(t, k)) })
}

func serveInMemory(t *testing.T, k *fakeKubelet) *testServer {
	t.Helper()
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	s, err := New(testOptions(k))
	unittest.Must(t, err, s.listener.Close())
	s.listener = netutil.LimitListener(listener, maxConnections)
	return startOn(t, s, func() (net.Conn, error) { return listener.dial(), nil })
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// reply is what a client gets.
type reply struct {
	status          int
	header, trailer http.Header
	body            string
}

// isOneLine reports whether the body is one line with a text.
func (r reply) isOneLine(text string) bool {
	return strings.Contains(r.body, text) && strings.Count(r.body, "\n") == 1 && strings.HasSuffix(r.body, "\n")
}

// ask makes a request, such as s.ask(t, "GET /pods"), and reads the whole answer. Set changes the request first.
func (s *testServer) ask(t testing.TB, request string, set ...func(*http.Request)) reply {
	t.Helper()
	resp := s.open(t, t.Context(), request, set...)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: read the answer: %v", request, err)
	}
	return reply{resp.StatusCode, resp.Header, resp.Trailer, string(body)}
}

// open returns an answer once its status has arrived.
func (s *testServer) open(t testing.TB, ctx context.Context, request string, set ...func(*http.Request)) *http.Response {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, nil)
	unittest.Must(t, err)
	for _, do := range set {
		do(r)
	}
	resp, err := s.transport.RoundTrip(r) // follows no redirects
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (s *testServer) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := s.transport.DialContext(t.Context(), "", "")
	unittest.Must(t, err)
	return conn
}

// raw sends a text unchanged and returns the answer.
func (s *testServer) raw(t testing.TB, format string, args ...any) string {
	t.Helper()
	conn := s.dial(t)
	defer conn.Close()
	go fmt.Fprintf(conn, format, args...) // the server may close before its end
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

func withToken(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) {
		query := r.URL.Query()
		query.Set("key", key)
		r.URL.RawQuery = query.Encode()
	}
}

// with sets headers, given as pairs of name and value.
func with(pairs ...string) func(*http.Request) {
	return func(r *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == "Host" {
				r.Host = pairs[i+1]
			}
			r.Header.Set(pairs[i], pairs[i+1])
		}
	}
}

const formType, jsonType = "application/x-www-form-urlencoded", "application/json"

func withBody(contentType, text string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Content-Type", contentType)
		if text != "" {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
	}
}

// onSocket makes a server listen on a unix socket.
func onSocket(t testing.TB) func(*Options) {
	path := filepath.Join(t.TempDir(), "s")
	return func(o *Options) { o.Address, o.Token = unixPrefix+path, "" }
}

// withTLS makes a server listen on all addresses, with a certificate for localhost and other names.
func withTLS(t testing.TB, names ...string) func(*Options) {
	t.Helper()
	config, err := LoadTLS(makeCertificate(t, append(names, "localhost")...))
	unittest.Must(t, err)
	return func(o *Options) { o.Address, o.TLS = "0.0.0.0", config }
}

func writeFile(t testing.TB, path, text string, mode os.FileMode) string {
	t.Helper()
	unittest.Must(t, os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)) // whatever the umask is
	return path
}
