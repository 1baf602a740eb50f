package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
	"kubelet14/kubelet/probes"
)

// parse makes a pod and its Now from lines: a pod as plantest.ParsePod reads it, containers as plantest.ParseContainer
// does, a problem such as "problem web PullFailed in=4s: no route", or "conflict PortTaken: another pod has it", which
// is one of the whole pod, "stopping web" for a container that its worker is stopping, and "stale web: its values have
// changed". The pull of image hello:1 is half done.
func parse(t *testing.T, input string) *view {
	t.Helper()
	halfWay := func(image string) string {
		return map[string]string{"hello:1": "pulling hello:1: 1 of 2 layers, 0B of 0B"}[image]
	}
	s := &view{&Pod{Name: "p.default.test"}, Now{Doing: map[string]plan.Problem{}, PullProgress: halfWay, ProbeResult: new(probes.Probers).Result}}
	var problems []plan.Problem
	stale := map[string]string{}
	s.Stale = func(_ *plan.Pod, c *api.Container, _ string) string { return stale[c.Name] }
	for line := range strings.Lines(input) {
		line = strings.TrimSpace(line)
		switch words, message, _ := strings.Cut(line, ": "); strings.Fields(line)[0] {
		case "#":
		case "stopping":
			name := strings.Fields(line)[1]
			s.Doing[name] = plan.Problem{Container: name, Reason: api.ReasonStopping, Message: "attempt 1 has until 12:00:30 to end"}
		case "stale":
			stale[strings.Fields(words)[1]] = message
		case "conflict":
			s.Wait = plan.Problem{Reason: strings.Fields(words)[1], Message: message}
			problems = append(problems, s.Wait)
		case "problem":
			p := plan.Problem{Container: strings.Fields(words)[1], Reason: strings.Fields(words)[2], Message: message}
			if _, in, found := strings.Cut(words, " in="); found {
				d, err := time.ParseDuration(in)
				unittest.Must(t, err)
				p.RetryAt = plantest.Now.Add(d)
			}
			problems = append(problems, p)
		case "want", "unwanted":
			s.Desired = plantest.ParsePod(line)
		default:
			s.Observed = append(s.Observed, plantest.ParseContainer(t, line))
		}
	}
	s.Plan = plantest.Make(s.Desired, s.Observed, plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2})
	s.Plan.Problems = append(problems, s.Plan.Problems...)
	return s
}

// statusText writes a status as a line for the pod and one for each container.
func statusText(s api.PodStatus) string {
	var b strings.Builder
	reason := func(reason, message string) string {
		if message == "" {
			return reason
		}
		return reason + ": " + strings.ReplaceAll(strings.TrimSpace(message), "\n", "; ")
	}
	end := func(end *api.ContainerStateTerminated) string {
		return fmt.Sprintf("%d %s", end.ExitCode, reason(end.Reason, end.Message))
	}
	fmt.Fprintln(&b, strings.TrimSuffix(fmt.Sprintf("%s, in short %s", s.Phase, s.ShortReason()), ", in short "+string(s.Phase)))
	if s.Reason != "" {
		fmt.Fprintln(&b, reason(s.Reason, s.Message))
	}
	for _, c := range s.Containers {
		if c.Name == "net" && c.State.Running != nil && c.State.Running.Message == "" && c.RestartCount == 0 && s.PodIP != "" {
			continue // it runs, and the pod has its address
		}
		fmt.Fprintf(&b, "%s#%d ", c.Name, c.RestartCount+1)
		switch state := c.State; {
		case state.Running != nil:
			b.WriteString(reason("up "+plantest.Now.Sub(state.Running.StartedAt).String(), state.Running.Message))
		case state.Terminated != nil:
			fmt.Fprintf(&b, "ended %s", end(state.Terminated))
		case state.Waiting != nil:
			fmt.Fprintf(&b, "waits %s", reason(state.Waiting.Reason, state.Waiting.Message))
			if !state.Waiting.Next.IsZero() {
				fmt.Fprintf(&b, " in %v", state.Waiting.Next.Sub(plantest.Now))
			}
		}
		if c.Last != nil {
			fmt.Fprintf(&b, " / before: %s", end(c.Last))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestStatus compares the status of a pod with the files of testdata.
func TestStatus(t *testing.T) {
	plantest.Cases(t, func(t *testing.T, input string) string {
		v := parse(t, input)
		s := Of(v.Pod, v.Now)
		saysWhy := func(c api.ContainerStatus) bool {
			ended, runs := c.State.Terminated, c.State.Running
			return c.State.Waiting != nil || runs != nil && runs.Message != "" || ended != nil && ended.Reason != api.ReasonCompleted
		}
		if !s.Up() && s.Reason == "" && !slices.ContainsFunc(s.Containers, saysWhy) {
			t.Errorf("%s\nthe pod is not up, and nothing says why", input)
		}
		return statusText(s)
	})
}

func TestEveryFieldOfAStatus(t *testing.T) {
	s := parse(t, "want never web:a late:c\nnet:n#1 running\nweb:a#3 exited exit=3 ended=1m message=m")
	s.Name, s.Origin = "p.ns.file", "p.yaml"
	s.Desired.Ports = []api.Port{{HostPort: 80, ContainerPort: 8080}}
	ended := api.ContainerStateTerminated{
		ExitCode: 3, Reason: "Error", Message: "m", StartedAt: plantest.Now.Add(-61 * time.Minute), FinishedAt: plantest.Now.Add(-time.Minute),
	}
	running := api.ContainerStateRunning{StartedAt: plantest.Now.Add(-time.Hour)}
	want := api.PodStatus{
		Name: "p", Namespace: "ns", UID: "u", Source: "file", Origin: "p.yaml", Phase: api.PodFailing, PodIP: "10.0.0.2", Ports: s.Desired.Ports,
		Containers: []api.ContainerStatus{
			{Name: "web", State: api.ContainerState{Terminated: &ended}, RestartCount: 2, Image: "hello:1", ImageID: "sha256:1", ContainerID: "web#3"},
			{Name: "late", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: "Creating"}}, Image: "hello:1"},
			{
				Name: "net", State: api.ContainerState{Running: &running}, PodIP: "10.0.0.2", Image: "pause:1", ImageID: "sha256:1",
				ContainerID: "net#1", Ready: true,
			},
		},
	}
	if diff := cmp.Diff(want, Of(s.Pod, s.Now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
