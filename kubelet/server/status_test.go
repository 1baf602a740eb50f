package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

func TestWriteStatuses(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	pods := []api.PodStatus{
		{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning, Containers: []api.ContainerStatus{
			{Name: "main", State: runningState(ago(90*time.Second), "")},
			{Name: "side", RestartCount: 12, State: waitingState(api.ReasonBackOff, "it said\n\"no\"\n")},
			{Name: "back", RestartCount: 1, State: runningState(ago(time.Minute), ""), Last: terminatedState(3, api.ReasonError, noon).Terminated},
			{Name: "net", State: runningState(ago(time.Hour), "unhealthy"), Last: terminatedState(0, api.ReasonCompleted, noon).Terminated},
		}},
		{Name: "job", Namespace: "ns", Source: "etcd", Phase: api.PodFailed, Containers: []api.ContainerStatus{
			{Name: "main", State: terminatedState(137, api.ReasonOOMKilled, ago(time.Second))},
			{Name: "net", State: terminatedState(0, api.ReasonCompleted, time.Time{})},
		}},
		{Name: "late", Namespace: "default", Source: "http", Phase: api.PodPending, Reason: api.ReasonPortTaken, Message: "by web"},
	}
	want := `POD                 CONTAINER   STATE        RESTARTS   SINCE    REASON
web.default.file                running                          
                    main        running      0          1m30s    -
                    side        waiting      12         -        BackOff: it said; "no"
                    back        running      1          1m0s     before: Error (exit code 3)
                    net         running      0          1h0m0s   unhealthy
job.ns.etcd                     failed                           
                    main        terminated   0          1s       OOMKilled (exit code 137)
                    net         terminated   0          -        Completed
late.default.http               pending                          PortTaken: by web
`
	var got strings.Builder
	if err := WriteStatuses(&got, pods, noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Messages are written by containers.
func TestWriteStatusesIsSafeOnATerminal(t *testing.T) {
	junk := "a\tb\rc\vd\fe\x1b[2Jf\a\x00g\u202eh\u2028i é\nj"
	for name, state := range map[string]api.ContainerState{
		"running":    {Running: &api.ContainerStateRunning{StartedAt: noon, Message: junk}},
		"waiting":    {Waiting: &api.ContainerStateWaiting{Reason: api.ReasonBackOff, Message: junk}},
		"terminated": {Terminated: &api.ContainerStateTerminated{Reason: api.ReasonError, Message: junk}},
	} {
		pods := []api.PodStatus{{Name: "web", Message: junk, Containers: []api.ContainerStatus{{Name: "main", State: state}}}}
		var got strings.Builder
		if err := WriteStatuses(&got, pods, noon); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
		if len(lines) != 3 || strings.ContainsFunc(strings.Join(lines, ""), func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.Count(got.String(), "é; j") != 2 {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// clientOf is a client of whatever listens.
func clientOf(t *testing.T, listener net.Listener) *Client {
	t.Helper()
	client, err := NewClient("127.0.0.1", listener.Addr().(*net.TCPAddr).Port, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestStatus(t *testing.T) {
	up := api.PodStatus{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning}
	down := api.PodStatus{Name: "db", Namespace: "default", Source: "file", Phase: api.PodPending, Reason: api.ReasonPortTaken}
	read := api.SourceStatus{Source: "file", Place: "/etc", Pods: 2, LastSuccess: noon}
	failing := api.SourceStatus{Source: "file", Place: "/etc", LastSuccess: noon, FailingSince: noon, LastError: "one\n\ntwo \x1b[31m"}
	for name, tt := range map[string]struct {
		pods   []api.PodStatus
		err    error
		source api.SourceStatus
		want   string // the problems; empty: all is well
	}{
		"all is well":         {[]api.PodStatus{up}, nil, read, ""},
		"no pods":             {nil, nil, read, ""},
		"a pod is down":       {[]api.PodStatus{up, down}, nil, read, "1 of 2 pods are not up, for the reasons in the table"},
		"a source fails":      {[]api.PodStatus{up}, nil, failing, "cannot read source file"},
		"a source is not yet": {nil, nil, api.SourceStatus{Source: "file"}, "source file has not been read yet"},
		"Docker is away":      {[]api.PodStatus{up}, errors.New("Docker is\naway"), read, "Docker is; away"},
		"all at once":         {[]api.PodStatus{down}, nil, failing, "cannot read source file, 1 of 1 pods are not up, for the reasons in the table"},
	} {
		s := serve(t, &fakeKubelet{statuses: tt.pods, err: tt.err, sources: []api.SourceStatus{tt.source}})
		status := http.StatusOK
		if tt.want != "" {
			status = http.StatusServiceUnavailable
		}
		got := s.ask(t, "GET /status")
		if got.status != status || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: it answers %d %v, want %d", name, got.status, got.header, status)
		}
		table, err := clientOf(t, s.listener).Status(t.Context())
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s: the client returns %v, want %q", name, err, tt.want)
		}
		if !strings.HasPrefix(table, "source file") || !strings.HasSuffix(table, "\n") || strings.Contains(table, "\x1b") || tt.want != "" && strings.Contains(table, tt.want) {
			t.Errorf("%s: the client's table is %q", name, table)
		}
		for _, pod := range tt.pods {
			if !strings.Contains(table, pod.FullName()) {
				t.Errorf("%s: pod %s is missing in\n%s", name, pod.FullName(), table)
			}
		}
	}
}

// A certificate file holds those behind the first that signed it. The holder of one of those must not get the token.
func TestTheTokenIsForTheHolderOfTheCertificateAlone(t *testing.T) {
	load := func(certFile, keyFile string) (tls.Certificate, string) {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		text, readErr := os.ReadFile(certFile)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		return pair, string(text)
	}
	ours, first := load(makeCertificate(t, "node.example"))
	other, behind := load(makeCertificate(t, "authority.example"))
	certFile := writeFile(t, filepath.Join(t.TempDir(), "chain.pem"), first+behind, 0o644)
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	for name, tt := range map[string]struct {
		shows tls.Certificate
		err   string // empty: it gets the token
	}{
		"ours": {ours, ""}, "another, such as before a renewal": {other, "; after a renewal restart the kubelet, which reads it at its start"},
		"ours with the key of another": {tls.Certificate{Certificate: ours.Certificate, PrivateKey: other.PrivateKey}, "tls: "},
	} {
		var shown string
		listener := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown = r.Header.Get("Authorization")
			io.WriteString(w, "POD CONTAINER\n")
		}))
		listener.TLS = &tls.Config{Certificates: []tls.Certificate{tt.shows}}
		listener.Config.ErrorLog = log.New(io.Discard, "", 0)
		listener.StartTLS()
		client, err := NewClient("127.0.0.1", listener.Listener.Addr().(*net.TCPAddr).Port, certFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Status(t.Context())
		listener.Close()
		if (shown == "Bearer "+testToken) != (tt.err == "") || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: the server is sent %q; %v", name, shown, err)
		}
	}
}

func TestClientOfEachKindOfServer(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "node.example")
	config, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file", LastSuccess: noon}}}
	for name, tt := range map[string]struct {
		options  func(*Options)
		certFile string
	}{
		"loopback": {func(*Options) {}, ""}, "socket": {onSocket(t), ""},
		"all addresses, with TLS": {func(o *Options) { o.Address, o.TLS = "0.0.0.0", config }, certFile},
	} {
		s := serve(t, k, tt.options)
		port := 0
		if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
			port = at.Port
		}
		client, err := NewClient(s.opts.Address, port, tt.certFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		if table, err := client.Status(t.Context()); err != nil || !strings.Contains(table, "source file") {
			t.Errorf("%s: %q, %v", name, table, err)
		}
	}
	for _, address := range []string{"127.0.0.1", "unix:/nothing"} {
		client, err := NewClient(address, 1, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "no kubelet answers: is one running") {
			t.Errorf("%s: it returns %v", address, err)
		}
	}
}

func TestAKubeletThatHangsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := NewClient("127.0.0.1", 10250, "", "")
		if err != nil {
			t.Fatal(err)
		}
		client.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			return ours, nil
		}
		const want = "ask the kubelet at http://127.0.0.1:10250: no answer within 30s"
		if _, err := client.Status(t.Context()); err == nil || err.Error() != want {
			t.Errorf("it returns %v, want %s", err, want)
		}
	})
}

// Any user of the host may listen at the port while no kubelet does.
func TestClientTrustsNoAnswer(t *testing.T) {
	const nasty = "one\x1b]0;title\x07\r\u009b31m\ntwo"
	for name, tt := range map[string]struct {
		status     int
		body       string
		table, err string
	}{
		"an error":        {http.StatusTeapot, nasty, "", "answers \"418 I'm a teapot\": one ]0;title   31m\ntwo"},
		"a table":         {http.StatusOK, "POD CONTAINER\n" + nasty, "POD CONTAINER\none ]0;title   31m\ntwo", ""},
		"another program": {http.StatusOK, "<html>" + nasty, "", "is not a kubelet14"},
		"a proxy's error": {http.StatusServiceUnavailable, "busy", "", "answers \"503 Service Unavailable\": busy"},
	} {
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}))
		table, err := clientOf(t, listener.Listener).Status(t.Context())
		listener.Close()
		if table != tt.table || (err == nil) != (tt.err == "") || err != nil && !strings.HasSuffix(err.Error(), tt.err) {
			t.Errorf("%s: it returns %q, %v", name, table, err)
		}
	}
}

func TestWhichPodsAreUp(t *testing.T) {
	running, waiting, paused := runningState(noon, ""), waitingState(api.ReasonPulling, ""), runningState(noon, "it is paused")
	done, failed := terminatedState(0, api.ReasonCompleted, noon), terminatedState(1, api.ReasonError, noon)
	k := &fakeKubelet{}
	s := serve(t, k)
	for _, tt := range []struct {
		name   string
		phase  api.PodPhase
		reason string
		states []api.ContainerState
		want   int
	}{
		{"all run", api.PodRunning, "", []api.ContainerState{running, running}, 200},
		{"one runs and one has completed", api.PodRunning, "", []api.ContainerState{running, done}, 200},
		{"one has failed", api.PodRunning, "", []api.ContainerState{running, failed}, 503},
		{"one is paused", api.PodRunning, "", []api.ContainerState{paused}, 503},
		{"one waits", api.PodRunning, "", []api.ContainerState{running, waiting}, 503},
		{"none has run", api.PodPending, "", []api.ContainerState{waiting, running}, 503},
		{"all have completed", api.PodSucceeded, "", []api.ContainerState{done, done}, 200},
		{"it has failed", api.PodFailed, "", []api.ContainerState{failed, done}, 503},
		{"it waits for a port", api.PodRunning, api.ReasonPortTaken, []api.ContainerState{running}, 503},
		{"it is being removed", api.PodRunning, api.ReasonRemoved, []api.ContainerState{waiting}, 200},
	} {
		pod := api.PodStatus{Phase: tt.phase, Reason: tt.reason}
		for _, state := range tt.states {
			pod.Containers = append(pod.Containers, api.ContainerStatus{State: state})
		}
		k.set(func() { k.statuses = []api.PodStatus{pod} })
		if got := s.ask(t, "GET /status"); got.status != tt.want {
			t.Errorf("%s: it answers %d, want %d", tt.name, got.status, tt.want)
		}
	}
}
