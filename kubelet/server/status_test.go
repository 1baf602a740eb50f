package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"
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
		"a source fails":              {nil, nil, failing, `source "file" cannot be read whole`},
		"a source is not yet read":    {nil, nil, api.SourceStatus{Source: "file"}, `source "file" has not been read yet`},
		"Docker is away":              {pod(api.PodRunning), errors.New("Docker is\naway"), read, "Docker is; away"},
		"a pod and a source together": {pod(api.PodPending), nil, failing, `source "file" cannot be read whole, ` + down},
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
