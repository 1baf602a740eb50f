package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
	"kubelet14/kubelet/probes"
)

// parseSnapshot makes a podSnapshot of lines: a pod as plantest.ParsePod reads it, containers as plantest.ParseContainer does,
// a problem such as "problem web PullFailed in=4s: no route", or "conflict PortTaken: another pod has it", which is one of the
// whole pod, and "stopping web" for a container that its worker is stopping. A pull of image hello:1 has come half way.
func parseSnapshot(t *testing.T, input string) *podView {
	t.Helper()
	halfWay := func(image string) string {
		return map[string]string{"hello:1": "pulling hello:1: 1 of 2 layers, 0B of 0B"}[image]
	}
	s := &podView{
		podSnapshot: &podSnapshot{name: "p.default.test"}, doing: map[string]plan.Problem{},
		pullProgress: halfWay, probeResult: new(probes.Probers).Result,
	}
	var problems []plan.Problem
	for line := range strings.Lines(input) {
		line = strings.TrimSpace(line)
		switch words, message, _ := strings.Cut(line, ": "); strings.Fields(line)[0] {
		case "#":
		case "stopping":
			name := strings.Fields(line)[1]
			s.doing[name] = plan.Problem{Container: name, Reason: api.ReasonStopping, Message: "attempt 1 has until 12:00:30 to end"}
		case "conflict":
			s.wait = plan.Problem{Reason: strings.Fields(words)[1], Message: message}
			problems = append(problems, s.wait)
		case "problem":
			p := plan.Problem{Container: strings.Fields(words)[1], Reason: strings.Fields(words)[2], Message: message}
			if _, in, found := strings.Cut(words, " in="); found {
				d, err := time.ParseDuration(in)
				unittest.Must(t, err)
				p.RetryAt = plantest.Now.Add(d)
			}
			problems = append(problems, p)
		case "want", "unwanted":
			s.pod = plantest.ParsePod(line)
		default:
			s.containers = append(s.containers, plantest.ParseContainer(t, line))
		}
	}
	s.plan = plantest.Make(s.pod, s.containers, plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2})
	s.plan.Problems = append(problems, s.plan.Problems...)
	return s
}

// statusText is a status in a few words: a line for the pod and one for each container.
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

// TestStatus reads in the files of testdata what the status of a pod says.
func TestStatus(t *testing.T) {
	plantest.Cases(t, func(t *testing.T, input string) string {
		s := parseSnapshot(t, input).status()
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
	s := parseSnapshot(t, "want never web:a late:c\nnet:n#1 running\nweb:a#3 exited exit=3 ended=1m message=m")
	s.name, s.origin = "p.ns.file", "p.yaml"
	s.pod.Ports = []api.Port{{HostPort: 80, ContainerPort: 8080}}
	ended := api.ContainerStateTerminated{
		ExitCode: 3, Reason: "Error", Message: "m", StartedAt: plantest.Now.Add(-61 * time.Minute), FinishedAt: plantest.Now.Add(-time.Minute),
	}
	running := api.ContainerStateRunning{StartedAt: plantest.Now.Add(-time.Hour)}
	want := api.PodStatus{
		Name: "p", Namespace: "ns", UID: "u", Source: "file", Origin: "p.yaml", Phase: api.PodFailing, PodIP: "10.0.0.2", Ports: s.pod.Ports,
		Containers: []api.ContainerStatus{
			{Name: "web", State: api.ContainerState{Terminated: &ended}, RestartCount: 2, Image: "hello:1", ImageID: "sha256:1", ContainerID: "web#3"},
			{Name: "late", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: "Creating"}}, Image: "hello:1"},
			{
				Name: "net", State: api.ContainerState{Running: &running}, PodIP: "10.0.0.2", Image: "pause:1", ImageID: "sha256:1",
				ContainerID: "net#1", Ready: true,
			},
		},
	}
	if diff := cmp.Diff(want, s.status()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A stop has a reason and a time while it lasts. Afterwards, and for the next kubelet, it is no crash. An end by itself is one.
func TestAStopIsAWaitAndNoCrash(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		k := w.run(pod("web", "main", "old"))
		k.set(pod("web", "main"))
		wait(time.Second)
		until := " has until " + time.Now().Add(stopGrace-time.Second).Format(time.TimeOnly) + " to end"
		if s := k.statuses(w)[0]; s.Phase != api.PodPending || s.Containers[2].Name != "old" || s.Containers[2].State.Running.Message != "Stopping: attempt 1"+until {
			t.Errorf("while a container is stopped that the manifest no longer has, the status is %+v", s)
		}
		settle()
		k.set(pod("web", "main:2"))
		wait(time.Second)
		until = " has until " + time.Now().Add(stopGrace-time.Second).Format(time.TimeOnly) + " to end"
		if s := k.main(w).State.Running; s == nil || s.Message != "Stopping: attempt 1"+until {
			t.Errorf("while attempt 1 is stopped, its state is %+v", s)
		}
		settle()
		k.lastIs(w, api.ReasonStopped)
		k.end()
		k = w.run(pod("web", "main:2"))
		k.lastIs(w, api.ReasonStopped)
		w.kill("web", "main", 1)
		settle()
		k.lastIs(w, api.ReasonError)
	})
}

// While a pod is being repaired, what was wrong with it before does not count.
func TestAPodThatIsBeingRepairedIsPending(t *testing.T) {
	for name, fail := range map[string]func(*world, *kubelet){
		"its image is missing": func(_ *world, k *kubelet) { k.set(ofImage(pod("web", "main"), "no-such-image:1", api.PullNever)) },
		"it is paused":         func(w *world, _ *kubelet) { w.must(w.docker.Pause(w.id("web", "main"))) },
	} {
		inWorld(t, func(w *world) {
			w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
			k := w.run(pod("web", "main"))
			fail(w, k)
			settle()
			before := k.statuses(w)[0]
			k.set(pod("web", "main:repaired"))
			wait(time.Second)
			if s := k.statuses(w)[0]; before.Phase != api.PodFailing || s.Phase != api.PodPending || !strings.HasPrefix(s.Containers[0].State.Running.Message, api.ReasonStopping) {
				t.Errorf("%s: the pod is %s, and while it is being repaired %s: %+v", name, before.Phase, s.Phase, s.Containers[0].State.Running)
			}
		})
	}
}

func TestStatusesAndPods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{IgnoreTerm: name == "stubborn"} }
		w.options = func(o *Options) {
			o.Sources = func() []api.SourceStatus {
				return []api.SourceStatus{{Stale: map[string]string{"a.default.file": "a.yaml is bad"}}}
			}
		}
		a, b := publish(pod("a", "main"), 80), publish(pod("b", "main"), 80)
		k := w.run(a, b, pod("going", "stubborn"))
		k.set(a, b)
		time.Sleep(time.Second) // "going" is being stopped
		var got []string
		for _, s := range k.statuses(w) {
			got = append(got, fmt.Sprintf("%s (%s) %s %s %s", s.Name, s.Origin, s.Phase, s.Reason, s.SourceError))
		}
		for _, p := range k.kl.Pods() {
			got = append(got, p.Name)
		}
		want := []string{
			"a (a.yaml) running  a.yaml is bad", "b (b.yaml) failing PortTaken ", "going (going.yaml) removing Removed ",
			"a", "b",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the statuses and the pods are %q, want %q", got, want)
		}
	})
}

// The log agrees with the state: a pod that crashes again and again, or is paused, is not up.
func TestTheLogAgreesWithTheState(t *testing.T) {
	for name, isUp := range map[string]int{"crashes": 2, "paused": 0} { // after its first crash a container is started at once
		inWorld(t, func(w *world) {
			w.program = func(name string) dockertest.Program {
				return dockertest.Program{Exits: name == "crashes", After: 500 * time.Millisecond, ExitCode: 1}
			}
			if name == "paused" {
				w.run(pod("web", name)).end()
				w.must(w.docker.Pause(w.id("web", name)))
			}
			text := w.logged("0", func() {
				k := w.run(pod("web", name))
				if phase := k.statuses(w)[0].Phase; phase != api.PodFailing {
					t.Errorf("pod %s is %s", name, phase)
				}
				k.end()
			})
			if got := strings.Count(text, "pod web.default.file is up\n"); got != isUp {
				t.Errorf("pod %s: %d times up, want %d:\n%s", name, got, isUp, text)
			}
			if first := "pod web.default.file (web.yaml): its manifest was found\n"; strings.Count(text, "web.yaml") != 1 || !strings.Contains(text, first) {
				t.Errorf("pod %s: where its manifest is, is not in the first line alone:\n%s", name, text)
			}
		})
	}
}
