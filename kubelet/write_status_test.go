package kubelet

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

func TestWriteStatuses(t *testing.T) {
	ago := func(d time.Duration) time.Time { return planNow.Add(-d) }
	pods := []api.PodStatus{
		{
			Name: "web", Namespace: "default", Source: "file", Phase: api.PodRunning,
			Containers: []api.ContainerStatus{
				{Name: "main", State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: ago(90 * time.Second)}}},
				{Name: "side", RestartCount: 12, State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonBackOff, Message: "it said\n\"no\"\n"}}},
				{Name: "back", RestartCount: 1, State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: ago(time.Minute)}}, Last: &api.ContainerStateTerminated{ExitCode: 3, Reason: api.ReasonError, Message: "long"}},
				{Name: "net", State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: ago(time.Hour), Message: "not as wanted"}}, Last: &api.ContainerStateTerminated{Reason: api.ReasonCompleted}},
			},
		},
		{
			Name: "job", Namespace: "ns", Source: "etcd", Phase: api.PodFailed,
			Containers: []api.ContainerStatus{
				{Name: "main", State: api.ContainerState{Terminated: &api.ContainerStateTerminated{ExitCode: 137, Reason: api.ReasonOOMKilled, FinishedAt: ago(time.Second)}}},
				{Name: "net", State: api.ContainerState{Terminated: &api.ContainerStateTerminated{Reason: api.ReasonCompleted}}},
			},
		},
		{Name: "late", Namespace: "default", Source: "http", Phase: api.PodPending, Reason: api.ReasonPortTaken, Message: "by web"},
	}
	want := `POD                 CONTAINER   STATE        RESTARTS   SINCE    REASON
web.default.file                running                          
                    main        running      0          1m30s    -
                    side        waiting      12         -        BackOff: it said; "no"
                    back        running      1          1m0s     before: Error (exit code 3)
                    net         running      0          1h0m0s   not as wanted
job.ns.etcd                     failed                           
                    main        terminated   0          1s       OOMKilled (exit code 137)
                    net         terminated   0          -        Completed
late.default.http               pending                          PortTaken: by web
`
	var got strings.Builder
	if err := WriteStatuses(&got, pods, planNow); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Messages are written by containers.
func TestWriteStatusesIsNotLedByItsMessages(t *testing.T) {
	junk := "a\tb\rc\vd\fe\x1b[2Jf\a\x00g\u202eh\u2028i é\nj"
	for name, state := range map[string]api.ContainerState{
		"running":    {Running: &api.ContainerStateRunning{StartedAt: planNow, Message: junk}},
		"waiting":    {Waiting: &api.ContainerStateWaiting{Reason: api.ReasonBackOff, Message: junk}},
		"terminated": {Terminated: &api.ContainerStateTerminated{Reason: api.ReasonError, Message: junk}},
	} {
		pods := []api.PodStatus{{Name: "web", Message: junk, Containers: []api.ContainerStatus{{Name: "main", State: state}}}}
		var got strings.Builder
		if err := WriteStatuses(&got, pods, planNow); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(got.String(), "\n"); lines != 3 {
			t.Errorf("%s: %d lines, want a header and 2 rows:\n%q", name, lines, got.String())
		}
		for _, r := range strings.ReplaceAll(got.String(), "\n", "") {
			if !unicode.IsPrint(r) {
				t.Errorf("%s: %q is printed", name, r)
			}
		}
		if n := strings.Count(got.String(), "é; j"); n != 2 {
			t.Errorf("%s: %d messages are whole, want 2:\n%q", name, n, got.String())
		}
	}
}
