package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/client"
	"kubelet14/kubelet/token"
)

func newClient(t *testing.T, address string, port int, config *tls.Config, tokenFile string) *client.Client {
	t.Helper()
	client, err := client.New(address, port, config, tokenFile)
	unittest.Must(t, err)
	return client
}

// clientOf is a client of any listener.
func clientOf(t *testing.T, listener net.Listener) *client.Client {
	t.Helper()
	return newClient(t, "127.0.0.1", listener.Addr().(*net.TCPAddr).Port, nil, "")
}

// A terminal is redrawn each second, since times pass. Elsewhere a table is printed for each change.
func TestWatch(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		pod := func(phase api.PodPhase) []api.PodStatus {
			return []api.PodStatus{{Name: "web", Phase: phase, Ready: phase == api.PodRunning, Containers: []api.ContainerStatus{{State: runningState(time.Now(), "")}}}}
		}
		k := &fakeKubelet{}
		inBubble(t, k, func(t *testing.T, s *testServer) {
			k.statuses = pod(api.PodRunning)
			client := newClient(t, "127.0.0.1", 10250, nil, "")
			var away atomic.Bool
			away.Store(true)
			client.Transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				if away.Load() {
					return nil, syscall.ECONNREFUSED
				}
				return s.transport.DialContext(ctx, "", "")
			}
			var out bytes.Buffer
			if err := client.Watch(t.Context(), &out, terminal); err == nil || out.Len() > 0 {
				t.Errorf("without a kubelet Watch returns %v, or prints something", err)
			}
			away.Store(false)
			ctx, interrupt := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- client.Watch(ctx, &out, terminal) }()
			for _, step := range []struct {
				name string
				do   func()
				want string // what is added
			}{
				{"at first", func() {}, "running  no     0         3s"},
				{"a pod fails", func() { k.set(func() { k.statuses = pod(api.PodFailing) }) }, "not well: 1 of 1 pod, first web..: failing"},
				{"the kubelet goes", func() { away.Store(true) }, "no kubelet answers"},
				{"it is back", func() { away.Store(false) }, "not well: 1 of 1 pod, first web..: failing"},
			} {
				step.do()
				time.Sleep(3*time.Second + time.Second/5) // never at the time of a request
				synctest.Wait()
				got := out.String()
				out.Reset()
				if !terminal {
					step.want = strings.Replace(step.want, "3s", "0s", 1)
				}
				drawn := strings.Count(got, "POD ") + strings.Count(got, "no kubelet")
				if !strings.Contains(got, step.want) || strings.Contains(got, "\x1b[H\x1b[2J") != terminal || !terminal && drawn != 1 {
					t.Errorf("on a terminal: %v, %s: %d tables, without %q:\n%s", terminal, step.name, drawn, step.want, got)
				}
			}
			interrupt()
			if err := <-ended; err != nil {
				t.Errorf("the end of the context ends it with %v", err)
			}
		})
	}
}

// A certificate file also has the certificates that signed the first one. A server with one of those must not get the
// token.
func TestTheTokenIsForTheHolderOfTheCertificateAlone(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "node.example")
	behindFile, behindKey := makeCertificate(t, "authority.example")
	first, err1 := os.ReadFile(certFile)
	behind, err2 := os.ReadFile(behindFile)
	config, err3 := LoadTLS(behindFile, behindKey)
	unittest.Must(t, err1, err2, err3)
	chainFile := writeFile(t, filepath.Join(t.TempDir(), "chain.pem"), string(first)+string(behind), 0o644)
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.TLS = config })
	chain, err := LoadTLS(chainFile, keyFile)
	unittest.Must(t, err)
	client := newClient(t, "127.0.0.1", s.listener.Addr().(*net.TCPAddr).Port, chain, tokenFile)
	const want = "; after a renewal restart the kubelet, which reads it at its start"
	if table, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it returns %q, %v", table, err)
	}
}

// The client shows the messages to a user who may read the token. It never sends the token: a program at another port
// gets a key that no kubelet accepts, even if it has asked the kubelet for its instance.
func TestTheClientShowsMessagesWithoutSendingTheToken(t *testing.T) {
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	s := serve(t, withOutput())
	port := s.listener.Addr().(*net.TCPAddr).Port
	for name, want := range map[string]string{tokenFile: printed, "/no/token": hiddenMessage} {
		client := newClient(t, "127.0.0.1", port, nil, name)
		table, err := client.Status(t.Context())
		if !strings.Contains(table, "BackOff: "+want) || err == nil || (client.Link == s.Link()) != (want == printed) {
			t.Errorf("with the token in %s: the link is %q, and the table\n%s%v", name, client.Link, table, err)
		}
	}
	var got, keys []string
	another := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, keys = append(got, fmt.Sprint(r.URL, r.Header)), append(keys, r.URL.Query().Get("key"))
		w.Header().Set(token.InstanceHeader, s.instance)
		io.WriteString(w, "POD ")
	}))
	defer another.Close()
	client := newClient(t, "127.0.0.1", another.Listener.Addr().(*net.TCPAddr).Port, nil, tokenFile)
	if _, err := client.Status(t.Context()); err != nil || len(got) != 2 || strings.Contains(fmt.Sprint(got), testToken) || strings.Contains(fmt.Sprint(got), s.key) {
		t.Errorf("%v; another program is asked for %q", err, got)
	} else if answer := s.ask(t, "GET /stream?key="+keys[1]); keys[1] == "" || answer.status != http.StatusUnauthorized {
		t.Errorf("its key %q is answered with %d %s", keys[1], answer.status, answer.body)
	}
}

func TestClientOfEachKindOfServer(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "test-host")
	config, err := LoadTLS(certFile, keyFile)
	unittest.Must(t, err)
	tokenFile := writeFile(t, filepath.Join(t.TempDir(), "token"), testToken, 0o600)
	k := &fakeKubelet{sources: []api.SourceStatus{{Source: "file", LastSuccess: noon}}}
	for url, tt := range map[string]struct {
		options func(*Options)
		config  *tls.Config
	}{
		"http://127.0.0.2:PORT/":  {func(o *Options) { o.Address = "127.0.0.2" }, nil},
		"http://127.0.0.1:PORT/":  {func(o *Options) { o.Address = "::ffff:127.0.0.1" }, nil},
		"https://test-host:PORT/": {func(o *Options) { o.Address, o.TLS = "0.0.0.0", config }, config},
		"unix:SOCKET":             {onSocket(t), nil},
	} {
		s := serve(t, k, tt.options)
		port := 0
		if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
			port = at.Port
		}
		if want := strings.NewReplacer("PORT", fmt.Sprint(port), "SOCKET", s.listener.Addr().String()).Replace(url); s.URL() != want {
			t.Errorf("its URL is %s, want %s", s.URL(), want)
		}
		client := newClient(t, s.opts.Address, port, tt.config, tokenFile)
		if table, err := client.Status(t.Context()); err != nil || !strings.Contains(table, "source file") || (s.Link() != "") && !strings.HasSuffix(client.Link, s.key) {
			t.Errorf("%s: %q, %v", url, table, err)
		}
	}
	_, err = newClient(t, "127.0.0.1", 1, nil, "").Status(t.Context())
	if want := "ask the kubelet at http://127.0.0.1:1: no kubelet answers: is one running"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("it returns %v, want %s", err, want)
	}
}

func TestAKubeletThatHangsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, "127.0.0.1", 10250, nil, "")
		client.Transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
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

// While no kubelet listens at the port, any user of the host may.
func TestClientTrustsNoAnswer(t *testing.T) {
	const nasty = "one\x1b]0;title\x07\r\u009b31m\ntwo"
	for name, tt := range map[string]struct {
		status     int
		body       string
		table, err string
	}{
		"an error":        {http.StatusTeapot, nasty, "", "answers \"418 I'm a teapot\": one?]0;title? ?31m\ntwo"},
		"a table":         {http.StatusOK, "POD CONTAINER\n" + nasty, "POD CONTAINER\none?]0;title? ?31m\ntwo", ""},
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

// Containers write messages, so they must not reach a terminal unchanged.
func TestWriteStatuses(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	const junk = "a\tb\rc\vd\fe\x1b[2Jf\a\x00g\u202eh\u2028i é\nj"
	ended := terminatedState(137, api.ReasonOOMKilled, ago(time.Second))
	ended.Terminated.Message = junk
	pods := []api.PodStatus{
		{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning, Ready: true, PodIP: "172.18.0.2", SourceError: "a typo", Ports: []api.Port{
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
		{Name: "late", Namespace: "default", Source: "http", Phase: api.PodPending, Reason: api.ReasonPortTaken, Message: `container "main": ` + junk, Containers: []api.ContainerStatus{
			{Name: "main", State: waitingState(api.ReasonPortTaken, junk)},
			{Name: "net", State: runningState(ago(time.Hour), ""), Last: terminatedState(137, api.ReasonError, noon).Terminated},
		}},
	}
	want := strings.ReplaceAll(`POD / CONTAINER    STATE       READY  RESTARTS  SINCE   IP / ID       PORTS / IMAGE          REASON
web.default.file   running     yes                      172.18.0.2    [::1]:8080->80,53/udp  it may be older than its manifest, which cannot be read
  main             running     yes    0         1m30s   0123456789ab  hello:1                -
  slow             running     no     0         1s      short         hello:1                its readiness probe failed
  side             waiting     no     12        -       -             -                      BackOff: it said; "no"
  back             running     yes    1         1m0s    -             -                      before: Error (exit code 3)
  net              running     no     0         1h0m0s  -             -                      JUNK
job.ns.etcd        failed      -                                                             
  main             terminated  -      0         1s      -             -                      OOMKilled (exit code 137): JUNK
  net              terminated  -      0         -       -             -                      Completed
late.default.http  pending     no                                                            PortTaken: container "main": JUNK
  main             waiting     no     0         -       -             -                      PortTaken
  net              running     no     0         1h0m0s  -             -                      -
`, "JUNK", "a b c d e?[2Jf??g?h i é; j")
	var got strings.Builder
	err := WriteStatuses(&got, pods, noon)
	if diff := cmp.Diff(want, got.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestStatus(t *testing.T) {
	pod := func(phase api.PodPhase, ready ...bool) []api.PodStatus {
		return []api.PodStatus{
			{Name: "web", Namespace: "default", Source: "file", Phase: phase, Ready: slices.Equal(ready, []bool{true}), Starting: len(ready) == 2},
			{Name: "up", Namespace: "default", Source: "file", Phase: api.PodRunning, Ready: true},
		}
	}
	read := api.SourceStatus{Source: "file", Place: "/etc", Pods: 2, LastSuccess: noon}
	failing := api.SourceStatus{Source: "file", Place: "/etc", LastSuccess: noon, FailingSince: noon, LastError: "one\n\ntwo \x1b[31m"}
	const down = "not well: 1 of 2 pods, first web.default.file: "
	for name, tt := range map[string]struct {
		pods        []api.PodStatus
		err, health error
		source      api.SourceStatus
		want        string // the problems; empty: all is well
	}{
		"no pods":                     {nil, nil, nil, read, ""},
		"pending":                     {pod(api.PodPending), nil, nil, read, down + "pending"},
		"running":                     {pod(api.PodRunning, true), nil, nil, read, ""},
		"not ready":                   {pod(api.PodRunning), nil, nil, read, down + api.ReasonNotReady},
		"not ready yet":               {pod(api.PodRunning, false, true), nil, nil, read, ""},
		"failing":                     {pod(api.PodFailing), nil, nil, read, down + "failing"},
		"succeeded":                   {pod(api.PodSucceeded), nil, nil, read, ""},
		"failed":                      {pod(api.PodFailed), nil, nil, read, down + "failed"},
		"removing":                    {pod(api.PodRemoving), nil, nil, read, ""},
		"a source fails":              {nil, nil, nil, failing, `source "file" has errors`},
		"a source is not yet read":    {nil, nil, nil, api.SourceStatus{Source: "file"}, `source "file" has not been read yet`},
		"Docker is away":              {pod(api.PodRunning, true), errors.New("Docker is\naway"), nil, read, "Docker is; away"},
		"the sync loop hangs":         {pod(api.PodRunning, true), nil, errors.New("busy"), read, "busy"},
		"a pod and a source together": {pod(api.PodPending), nil, nil, failing, `source "file" has errors, ` + down + "pending"},
	} {
		s := serve(t, &fakeKubelet{statuses: tt.pods, err: tt.err, health: tt.health, sources: []api.SourceStatus{tt.source}})
		if first, second := s.ask(t, "GET /status").header.Get("ETag"), s.ask(t, "GET /status").header.Get("ETag"); first != second || first == "" {
			t.Errorf("%s: the tags are %q and then %q", name, first, second)
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

// A pod is well even if another pod is not, or the source of other pods fails.
func TestStatusOfOnePod(t *testing.T) {
	named := func(name, namespace, source string, ready bool) api.PodStatus {
		return api.PodStatus{Name: name, Namespace: namespace, Source: source, Phase: api.PodRunning, Ready: ready}
	}
	stale := named("stale", "default", "file", true)
	stale.SourceError = "a typo"
	s := serve(t, &fakeKubelet{
		statuses: []api.PodStatus{named("web", "default", "file", true), named("db", "team", "file", false), named("db", "other", "file", true), stale},
		sources:  []api.SourceStatus{{Source: "file", FailingSince: noon}},
	})
	for query, want := range map[string]string{
		"web": "200", "web.default": "200", "web.default.file": "200", "db.other": "200",
		"db.team": "503 not well: 1 of 1 pod, first db.team.file: NotReady", "stale": "503 its manifest cannot be read",
		"db": "409 several pods are named", "we": "404 there is no pod", "web.team": "404 there is no pod",
	} {
		got := s.ask(t, "GET /status?pod="+query)
		if code, words, _ := strings.Cut(want, " "); fmt.Sprint(got.status) != code || !strings.Contains(got.body, words) || code == "200" && strings.Count(got.body, "\n") != 2 {
			t.Errorf("/status?pod=%s answers %d, want %s\n%s", query, got.status, want, got.body)
		}
	}
}
