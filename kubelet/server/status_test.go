package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

func TestWriteStatuses(t *testing.T) {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	running := func(d time.Duration, message string) api.ContainerState {
		return api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: ago(d), Message: message}}
	}
	backOff := api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonBackOff, Message: "it said\n\"no\"\n"}}
	end := func(code int, reason string, at time.Time) *api.ContainerStateTerminated {
		return &api.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: at}
	}
	pods := []api.PodStatus{
		{Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning, Containers: []api.ContainerStatus{
			{Name: "main", State: running(90*time.Second, "")},
			{Name: "side", RestartCount: 12, State: backOff},
			{Name: "back", RestartCount: 1, State: running(time.Minute, ""), Last: end(3, api.ReasonError, noon)},
			{Name: "net", State: running(time.Hour, "unhealthy"), Last: end(0, api.ReasonCompleted, noon)},
		}},
		{Name: "job", Namespace: "ns", Source: "etcd", Phase: api.PodFailed, Containers: []api.ContainerStatus{
			{Name: "main", State: api.ContainerState{Terminated: end(137, api.ReasonOOMKilled, ago(time.Second))}},
			{Name: "net", State: api.ContainerState{Terminated: end(0, api.ReasonCompleted, time.Time{})}},
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
	t.Cleanup(client.Close)
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
		"Docker is away":      {[]api.PodStatus{up}, errors.New("Docker is\naway"), read, "Docker is; away; the table is that of the last answer of Docker"},
		"all at once":         {[]api.PodStatus{down}, nil, failing, "cannot read source file, 1 of 1 pods are not up, for the reasons in the table"},
	} {
		s := serve(t, &fakeKubelet{statuses: tt.pods, err: tt.err}, sourcesOf(tt.source))
		status := http.StatusOK
		if tt.want != "" {
			status = http.StatusServiceUnavailable
		}
		got := ask(t, s, "GET /status")
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

func TestIsUp(t *testing.T) {
	running := api.ContainerState{Running: &api.ContainerStateRunning{}}
	waiting := api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPulling}}
	done := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonCompleted}}
	failed := api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonError, ExitCode: 1}}
	paused := api.ContainerState{Running: &api.ContainerStateRunning{Message: "it is paused"}}
	for _, test := range []struct {
		name   string
		phase  api.PodPhase
		reason string
		states []api.ContainerState
		want   bool
	}{
		{"all run", api.PodRunning, "", []api.ContainerState{running, running}, true},
		{"one runs and one has completed", api.PodRunning, "", []api.ContainerState{running, done}, true},
		{"one has failed", api.PodRunning, "", []api.ContainerState{running, failed}, false},
		{"one is paused", api.PodRunning, "", []api.ContainerState{paused}, false},
		{"one waits", api.PodRunning, "", []api.ContainerState{running, waiting}, false},
		{"none has run", api.PodPending, "", []api.ContainerState{waiting, running}, false},
		{"all have completed", api.PodSucceeded, "", []api.ContainerState{done, done}, true},
		{"it has failed", api.PodFailed, "", []api.ContainerState{failed, done}, false},
		{"it waits for a port", api.PodRunning, api.ReasonPortTaken, []api.ContainerState{running}, false},
		{"it is being removed", api.PodRunning, api.ReasonRemoved, []api.ContainerState{waiting}, true},
	} {
		pod := api.PodStatus{Phase: test.phase, Reason: test.reason}
		for _, state := range test.states {
			pod.Containers = append(pod.Containers, api.ContainerStatus{State: state})
		}
		if got := IsUp(&pod); got != test.want {
			t.Errorf("%s: IsUp is %v", test.name, got)
		}
	}
}
