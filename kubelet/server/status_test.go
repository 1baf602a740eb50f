package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

// Messages are written by containers, and must not reach a terminal as they are.
func TestWriteStatuses(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	const junk = "a\tb\rc\vd\fe\x1b[2Jf\a\x00g\u202eh\u2028i é\nj"
	ended := terminatedState(137, api.ReasonOOMKilled, ago(time.Second))
	ended.Terminated.Message = junk
	pods := []api.PodStatus{
		{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning, PodIP: "172.18.0.2", Ports: []api.Port{
			{HostIP: "::1", HostPort: 8080, ContainerPort: 80, Protocol: api.ProtocolTCP}, {HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
		}, Containers: []api.ContainerStatus{
			{Name: "main", State: runningState(ago(90*time.Second), ""), Image: "hello:1", ContainerID: "0123456789abcdef", Ready: true},
			{Name: "slow", State: runningState(ago(time.Second), "its readiness probe failed"), Image: "hello:1", ContainerID: "short"},
			{Name: "side", RestartCount: 12, State: waitingState(api.ReasonBackOff, "it said\n\"no\"\n")},
			{Name: "back", RestartCount: 1, Ready: true, State: runningState(ago(time.Minute), ""), Last: terminatedState(3, api.ReasonError, noon).Terminated},
			{Name: "net", State: runningState(ago(time.Hour), junk), Last: terminatedState(0, api.ReasonCompleted, noon).Terminated},
		}},
		{Name: "job", Namespace: "ns", Source: "etcd", Phase: api.PodFailed, Containers: []api.ContainerStatus{
			{Name: "main", State: ended},
			{Name: "net", State: terminatedState(0, api.ReasonCompleted, time.Time{})},
		}},
		{Name: "late", Namespace: "default", Source: "http", Phase: api.PodPending, Reason: api.ReasonPortTaken, Message: junk, Containers: []api.ContainerStatus{
			{Name: "main", State: waitingState(api.ReasonPortTaken, junk)},
		}},
	}
	want := strings.ReplaceAll(`POD / CONTAINER    STATE       RESTARTS  SINCE   IP / ID       PORTS / IMAGE          REASON
web.default.file   running                       172.18.0.2    [::1]:8080->80,53/udp  
  main             running     0         1m30s   0123456789ab  hello:1                -
  slow             running     0         1s      short         hello:1                its readiness probe failed
  side             waiting     12        -       -             -                      BackOff: it said; "no"
  back             running     1         1m0s    -             -                      before: Error (exit code 3)
  net              running     0         1h0m0s  -             -                      JUNK
job.ns.etcd        failed                                                             
  main             terminated  0         1s      -             -                      OOMKilled (exit code 137): JUNK
  net              terminated  0         -       -             -                      Completed
late.default.http  pending                                                            PortTaken: JUNK
  main             waiting     0         -       -             -                      PortTaken
`, "JUNK", "a b c d e [2Jf  g h i é; j")
	var got strings.Builder
	err := WriteStatuses(&got, pods, noon)
	if diff := cmp.Diff(want, got.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
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
	pod := func(phase api.PodPhase) []api.PodStatus {
		return []api.PodStatus{
			{Name: "web", Namespace: "default", Source: "file", Phase: phase},
			{Name: "up", Namespace: "default", Source: "file", Phase: api.PodRunning},
		}
	}
	read := api.SourceStatus{Source: "file", Place: "/etc", Pods: 2, LastSuccess: noon}
	failing := api.SourceStatus{Source: "file", Place: "/etc", LastSuccess: noon, FailingSince: noon, LastError: "one\n\ntwo \x1b[31m"}
	const down = "not up: 1 of 2 pods, for the reasons in the table"
	for name, tt := range map[string]struct {
		pods   []api.PodStatus
		err    error
		source api.SourceStatus
		want   string // the problems; empty: all is well
	}{
		"no pods":                     {nil, nil, read, ""},
		"pending":                     {pod(api.PodPending), nil, read, down},
		"running":                     {pod(api.PodRunning), nil, read, ""},
		"failing":                     {pod(api.PodFailing), nil, read, down},
		"succeeded":                   {pod(api.PodSucceeded), nil, read, ""},
		"failed":                      {pod(api.PodFailed), nil, read, down},
		"removing":                    {pod(api.PodRemoving), nil, read, ""},
		"a source fails":              {nil, nil, failing, "cannot read source file"},
		"a source is not yet read":    {nil, nil, api.SourceStatus{Source: "file"}, "source file has not been read yet"},
		"Docker is away":              {pod(api.PodRunning), errors.New("Docker is\naway"), read, "Docker is; away"},
		"a pod and a source together": {pod(api.PodPending), nil, failing, "cannot read source file, " + down},
	} {
		s := serve(t, &fakeKubelet{statuses: tt.pods, err: tt.err, sources: []api.SourceStatus{tt.source}})
		tag := s.ask(t, "GET /status").header.Get("ETag")
		if got := s.ask(t, "GET /status", with("If-None-Match", tag)); got.status != http.StatusNotModified || tag == "" {
			t.Errorf("%s: asked again with the tag %s it answers %d", name, tag, got.status)
		}
		table, err := clientOf(t, s.listener).Status(t.Context())
		if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s: the client returns %v, want %q", name, err, tt.want)
		}
		if !strings.HasPrefix(table, "source file") || !strings.HasSuffix(table, "\n") || strings.Contains(table, "\x1b") ||
			tt.want != "" && strings.Contains(table, tt.want) || len(tt.pods) > 0 && !strings.Contains(table, "web.default.file") {
			t.Errorf("%s: the client's table is %q", name, table)
		}
	}
}

// A certificate file holds those behind the first that signed it. The holder of one of those must not get the token.
func TestTheTokenIsForTheHolderOfTheCertificateAlone(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "node.example")
	behindFile, behindKey := makeCertificate(t, "authority.example")
	ours, err1 := tls.LoadX509KeyPair(certFile, keyFile)
	other, err2 := tls.LoadX509KeyPair(behindFile, behindKey)
	first, err3 := os.ReadFile(certFile)
	behind, err4 := os.ReadFile(behindFile)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	chainFile := writeFile(t, filepath.Join(t.TempDir(), "chain.pem"), string(first)+string(behind), 0o644)
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	for name, tt := range map[string]struct {
		shows tls.Certificate
		err   string // empty: it gets the token
	}{
		"ours":                              {ours, ""},
		"another, such as before a renewal": {other, "; after a renewal restart the kubelet, which reads it at its start"},
		"ours with the key of another":      {tls.Certificate{Certificate: ours.Certificate, PrivateKey: other.PrivateKey}, "tls: "},
	} {
		var shown string
		listener := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown = r.Header.Get("Authorization")
			io.WriteString(w, "POD CONTAINER\n")
		}))
		listener.TLS = &tls.Config{Certificates: []tls.Certificate{tt.shows}}
		listener.Config.ErrorLog = log.New(io.Discard, "", 0)
		listener.StartTLS()
		client, err := NewClient("127.0.0.1", listener.Listener.Addr().(*net.TCPAddr).Port, chainFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Status(t.Context())
		listener.Close()
		isOurs := tt.err == ""
		if (shown == "Bearer "+testToken) != isOurs || (err == nil) != isOurs || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: the server is sent %q; %v", name, shown, err)
		}
	}
}

func TestClientOfEachKindOfServer(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "test-host")
	config, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file", LastSuccess: noon}}}
	for url, tt := range map[string]struct {
		options  func(*Options)
		certFile string
	}{
		"http://127.0.0.2:PORT/":  {func(o *Options) { o.Address = "127.0.0.2" }, ""},
		"https://test-host:PORT/": {func(o *Options) { o.Address, o.TLS = "0.0.0.0", config }, certFile},
		"unix:SOCKET":             {onSocket(t), ""},
	} {
		s := serve(t, k, tt.options)
		port := 0
		if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
			port = at.Port
		}
		if want := strings.NewReplacer("PORT", fmt.Sprint(port), "SOCKET", s.listener.Addr().String()).Replace(url); s.URL() != want {
			t.Errorf("its URL is %s, want %s", s.URL(), want)
		}
		client, err := NewClient(s.opts.Address, port, tt.certFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		if table, err := client.Status(t.Context()); err != nil || !strings.Contains(table, "source file") {
			t.Errorf("%s: %q, %v", url, table, err)
		}
	}
	client, err := NewClient("127.0.0.1", 1, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Status(t.Context())
	if want := "ask the kubelet at http://127.0.0.1:1: no kubelet answers: is one running"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("it returns %v, want %s", err, want)
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
