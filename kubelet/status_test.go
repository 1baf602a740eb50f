package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
	"kubelet14/kubelet/probes"
)

// parseSnapshot makes a podSnapshot of lines: a pod as plantest.ParsePod reads it, and containers
// as plantest.ParseContainer does. "conflict" is a pod that must wait for another one, and "stopping"
// names a container that its worker is stopping. A pull of image hello:1 has come half way.
func parseSnapshot(t *testing.T, input string, problems ...plan.Problem) *podView {
	t.Helper()
	halfWay := func(image string) string {
		return map[string]string{"hello:1": "pulling hello:1: 1 of 2 layers, 0B of 0B"}[image]
	}
	s := &podView{
		podSnapshot: &podSnapshot{name: "p.default.test"}, doing: map[string]plan.Problem{},
		pullProgress: halfWay, probeResult: new(probes.Probers).Result,
	}
	for line := range strings.Lines(input) {
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "stopping":
			s.doing[rest] = plan.Problem{Container: rest, Reason: api.ReasonStopping, Message: "attempt 1 has until 12:00:30 to end"}
		case "conflict":
			s.wait = problems[0]
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
	fmt.Fprintf(&b, "%s %s: %s\n", s.Phase, s.PodIP, reason(s.Reason, s.Message))
	for _, c := range s.Containers {
		fmt.Fprintf(&b, "%s#%d ", c.Name, c.RestartCount+1)
		switch state := c.State; {
		case state.Running != nil:
			fmt.Fprintf(&b, "up %v: %s", plantest.Now.Sub(state.Running.StartedAt), state.Running.Message)
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

func TestStatus(t *testing.T) {
	none := plan.Problem{}
	pulling := plan.Problem{Container: "web", Reason: api.ReasonPulling, Message: "waits for the pull"}
	for _, test := range []struct {
		name, input string
		problem     plan.Problem
		want        string
	}{
		{"nothing is done yet", "want web:a side:b", none,
			"pending : \nweb#1 waits Creating\nside#1 waits Creating\nnet#1 waits Creating\n"},
		{"an init container comes first", "want one:i+init web:a", none,
			"pending : \none#1 waits Creating\nweb#1 waits InitContainer: waits for init container \"one\"\nnet#1 waits Creating\n"},
		{"all run", "want web:a side:b\nnet:n#1 running\nweb:a#1 running up=5m\nside:b#3 running", none,
			"running 10.0.0.2: \nweb#1 up 5m0s: \nside#3 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"one of two has not run yet", "want web:a side:b\nnet:n#1 running\nweb:a#1 running\nside:b#1 created", none,
			"pending 10.0.0.2: \nweb#1 up 1h0m0s: \nside#1 waits Creating\nnet#1 up 1h0m0s: \n"},
		{"a pod without containers is its network container", "want\nnet:n#1 running", none,
			"running 10.0.0.2: \nnet#1 up 1h0m0s: \n"},
		{"one that is paused is alive", "want web:a\nnet:n#1 running\nweb:a#1 paused", none,
			"failing 10.0.0.2: \nweb#1 up 1h0m0s: it is paused; docker unpause lets it run again\nnet#1 up 1h0m0s: \n"},
		{"the attempt before it is being stopped", "want web:b\nnet:n#1 running\nweb:a#1 running\nweb:b#2 created\nstopping web", none,
			"pending 10.0.0.2: \nweb#2 waits Stopping: attempt 1 has until 12:00:30 to end\nnet#1 up 1h0m0s: \n"},
		{"it is stopped for its probe", "want web:a\nnet:n#1 running\nweb:a#1 running unhealthy=refused\nstopping web", none,
			"failing 10.0.0.2: \nweb#1 up 1h0m0s: its liveness probe failed: refused; Stopping: attempt 1 has until 12:00:30 to end\nnet#1 up 1h0m0s: \n"},
		{"a container that the manifest no longer has is to be stopped", "want web:a\nnet:n#1 running\nold:a#1 running\nweb:a#1 running", none,
			"pending 10.0.0.2: \nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \nold#1 up 1h0m0s: Stopping: its pod no longer has such a container\n"},
		{"and is being stopped", "want web:a\nnet:n#1 running\nold:a#1 running\nweb:a#1 running\nstopping old", none,
			"pending 10.0.0.2: \nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \nold#1 up 1h0m0s: Stopping: attempt 1 has until 12:00:30 to end\n"},
		{"and cannot be stopped", "want web:a\nnet:n#1 running\nold:a#1 running\nweb:a#1 running",
			plan.Problem{Container: "old", Reason: api.ReasonDocker, Message: "no answer"},
			"failing 10.0.0.2: \nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \nold#1 up 1h0m0s: no answer\n"},
		{"a pod of init containers alone", "want one:i+init\nnet:n#1 running\none:i#1 running", none,
			"pending 10.0.0.2: \none#1 up 1h0m0s: the other containers wait until it has succeeded\nnet#1 up 1h0m0s: \n"},
		{"the kubelet has stopped what it replaced", "want web:b\nnet:n#1 running\nweb:a#1 exited ended=1m exit=137\nweb:b#2 running created=70s", none,
			"running 10.0.0.2: \nweb#2 up 1h0m0s:  / before: 137 Stopped\nnet#1 up 1h0m0s: \n"},
		{"it ended, and was replaced then", "want web:a\nnet:n#1 running\nweb:a#1 exited ended=70s exit=137\nweb:a#2 running created=1m", none,
			"running 10.0.0.2: \nweb#2 up 1h0m0s:  / before: 137 Error\nnet#1 up 1h0m0s: \n"},
		{"the pull is on its way", "want web:a\nnet:n#1 running", pulling,
			"pending 10.0.0.2: \nweb#1 waits Pulling: pulling hello:1: 1 of 2 layers, 0B of 0B\nnet#1 up 1h0m0s: \n"},
		{"the pull is over, and there was no sync yet", "want web:a+latest\nnet:n#1 running", pulling,
			"pending 10.0.0.2: \nweb#1 waits Pulling: waits for the pull\nnet#1 up 1h0m0s: \n"},
		{"the old form runs while the image of the new one is pulled", "want web:b\nnet:n#1 running\nweb:a#1 running", pulling,
			"pending 10.0.0.2: \nweb#1 up 1h0m0s: runs as before its edit to image hello:1: pulling hello:1: 1 of 2 layers, 0B of 0B\nnet#1 up 1h0m0s: \n"},
		{"a pull that failed has a time", "want web:a\nnet:n#1 running",
			plan.Problem{Container: "web", Reason: api.ReasonPullFailed, Message: "no route", RetryAt: plantest.Now.Add(4 * time.Second)},
			"failing 10.0.0.2: \nweb#1 waits PullFailed: no route in 4s\nnet#1 up 1h0m0s: \n"},
		{"a probe has failed, and it is not stopped yet", "want web:a\nnet:n#1 running\nweb:a#1 running unhealthy=refused", none,
			"failing 10.0.0.2: \nweb#1 up 1h0m0s: its liveness probe failed: refused\nnet#1 up 1h0m0s: \n"},
		{"back-off", "want web:a\nnet:n#1 running\nweb:a#1 exited ended=5s ran=1s exit=1\nweb:a#2 exited ended=1s ran=1s exit=3 crashes=3", none,
			"failing 10.0.0.2: \n" +
				"web#2 waits BackOff: ended with exit code 3; it ended soon after its start 4 times in a row, next start at 12:00:03 in 3s" +
				" / before: 3 Error\nnet#1 up 1h0m0s: \n"},
		{"it runs again: how it ended is the last thing known",
			"want web:a\nnet:n#1 running\nweb:a#1 exited exit=1\nweb:a#2 exited exit=2\nweb:a#3 running created=0s", none,
			"running 10.0.0.2: \nweb#3 up 1h0m0s:  / before: 2 Error\nnet#1 up 1h0m0s: \n"},
		{"an end that is older than the pod's UID is none of it",
			"want web:a\nnet:n#1 running\nweb:a#1 exited exit=1 uid=other\nweb:a#1 running", none,
			"running 10.0.0.2: \nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"its command is not there",
			"want web:a\nnet:n#1 running\nweb:a#1 created failed=x created=1s\n" +
				"web:a#2 created created=0s crashes=1 failed=exec:|no|such|file|or|directory:|unknown", none,
			"failing 10.0.0.2: \n" +
				"web#2 waits CommandNotFound: could not start: exec: no such file or directory; " +
				"it failed 2 times in a row, next start at 12:00:01 in 1s" +
				" / before: 127 CommandNotFound: exec: no such file or directory\nnet#1 up 1h0m0s: \n"},
		{"all have succeeded", "want onFailure web:a side:b\nweb:a#1 exited\nside:b#2 exited", none,
			"succeeded : \nweb#1 ended 0 Completed\nside#2 ended 0 Completed\nnet#1 ended 0 Completed\n"},
		{"all have succeeded, and the network container is not removed yet",
			"want onFailure web:a\nnet:n#1 exited exit=137\nweb:a#1 exited", none,
			"succeeded : \nweb#1 ended 0 Completed\nnet#1 ended 0 Completed\n"},
		{"one of all has failed", "want never web:a side:b\nweb:a#1 exited\nside:b#1 exited exit=3", none,
			"failed : \nweb#1 ended 0 Completed\nside#1 ended 3 Error\nnet#1 ended 0 Completed\n"},
		{"an init container has failed for good", "want never one:i+init two:i+init web:a\none:i#1 exited exit=3\nweb:a#1 created", none,
			"failed : \none#1 ended 3 Error\ntwo#1 waits InitContainer: an init container has failed\n" +
				"web#1 waits InitContainer: an init container has failed\nnet#1 ended 0 Completed\n"},
		{"somebody has removed an init container, and the first app", "want one:i+init web:a side:b\nnet:n#1 running\nside:b#1 running", none,
			"pending 10.0.0.2: \none#1 ended 0 Completed\nweb#1 waits Creating\nside#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"one has failed for good, the other one works", "want never web:a side:b\nnet:n#1 running\nweb:a#1 exited exit=3\nside:b#1 running", none,
			"failing 10.0.0.2: \nweb#1 ended 3 Error\nside#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"why it ended",
			"want never a:1 b:1 c:1\na:1#1 exited exit=137 oom message=here\n" +
				"b:1#1 exited exit=137 killed=Unhealthy message=bye\nc:1#1 exited exit=1 message=two|lines|", none,
			"failed : \na#1 ended 137 OOMKilled: here\nb#1 ended 137 Unhealthy: its liveness probe failed: refused\n" +
				"c#1 ended 1 Error: two; lines\nnet#1 ended 0 Completed\n"},
		{"the network container cannot start, and all wait for it", "want web:a side:b\nnet:n#1 created",
			plan.Problem{Container: "net", Reason: api.ReasonPortTaken, Message: "port 80 is in use", RetryAt: plantest.Now.Add(time.Second)},
			"failing : \nweb#1 waits NetworkContainer: waits for the network container in 1s\n" +
				"side#1 waits NetworkContainer: waits for the network container in 1s\n" +
				"net#1 waits PortTaken: port 80 is in use in 1s\n"},
		{"another pod has the port, and nothing of this one is there", "conflict\nwant web:a",
			plan.Problem{Reason: api.ReasonPortTaken, Message: "pod x has port 80"},
			"failing : PortTaken: pod x has port 80\nweb#1 waits PortTaken: pod x has port 80\nnet#1 waits PortTaken: pod x has port 80\n"},
		{"another pod has the uuid that this one is to get, and it runs as it was",
			"conflict\nwant web:a\nnet:n#1 running uid=old\nweb:a#1 running uid=old",
			plan.Problem{Reason: api.ReasonUUIDTaken, Message: "pod x has it"},
			"failing 10.0.0.2: UUIDTaken: pod x has it\nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"one has done its work, the other one works", "want never web:a side:b\nnet:n#1 running\nweb:a#1 exited\nside:b#1 running", none,
			"running 10.0.0.2: \nweb#1 ended 0 Completed\nside#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"it has crashed once, and is started again at once", "want web:a\nnet:n#1 running\nweb:a#1 exited exit=1", none,
			"pending 10.0.0.2: \nweb#1 waits Creating / before: 1 Error\nnet#1 up 1h0m0s: \n"},
		{"it runs between two crashes", "want web:a\nnet:n#1 running\nweb:a#4 running up=1s crashes=3", none,
			"failing 10.0.0.2: \nweb#4 up 1s: it runs again; it ended soon after its start 3 times in a row\nnet#1 up 1h0m0s: \n"},
		{"it is removed", "unwanted\nnet:n#1 running\nside:b#1 exited exit=3\nweb:a#1 exited\nweb:a#2 running created=0s", none,
			"removing 10.0.0.2: Removed: it is no longer wanted; its containers are being removed\n" +
				"net#1 up 1h0m0s: Stopping: its pod is no longer wanted\n" +
				"side#1 ended 3 Error\nweb#2 up 1h0m0s: Stopping: its pod is no longer wanted / before: 0 Completed\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var problems []plan.Problem
			if test.problem != none {
				problems = append(problems, test.problem)
			}
			s := parseSnapshot(t, test.input, problems...)
			if diff := cmp.Diff(test.want, statusText(s.status())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			saysWhy := func(c api.ContainerStatus) bool {
				ended, runs := c.State.Terminated, c.State.Running
				return c.State.Waiting != nil || runs != nil && runs.Message != "" || ended != nil && ended.Reason != api.ReasonCompleted
			}
			if status := s.status(); !status.Up() && status.Reason == "" && !slices.ContainsFunc(status.Containers, saysWhy) {
				t.Error("the pod is not up, and nothing says why")
			}
		})
	}
}

// A container that runs on after a bad edit has the reason of the edit.
func TestTheShortReasonOfAPodThatIsNotUp(t *testing.T) {
	const edited = "want web:b\nnet:n#1 running\nweb:a#1 running"
	none := plan.Problem{}
	for _, test := range []struct {
		input   string
		problem plan.Problem
		want    string
	}{
		{edited, plan.Problem{Container: "web", Reason: api.ReasonImageNotFound, Message: "m"}, "ImageNotFound"},
		{edited, plan.Problem{Container: "web", Reason: api.ReasonPulling, Message: "m"}, "pending"},
		{edited + "\nconflict", plan.Problem{Reason: api.ReasonPortTaken, Message: "m"}, "PortTaken"},
		{"want web:a side:b", plan.Problem{Container: "side", Reason: api.ReasonCannotCreate, Message: "m"}, "CannotCreate"},
		{"want web:a", plan.Problem{Container: "net", Reason: api.ReasonDocker, Message: "m"}, "Docker"},
		{"want web:a\nnet:n#1 running\nweb:a#1 running unhealthy=refused\nstopping web", none, "Unhealthy"},
		{"want web:a\nnet:n#1 running\nweb:a#1 paused", none, "failing"},
		{"want never web:a side:b\nnet:n#1 running\nweb:a#1 exited exit=0\nside:b#1 exited exit=3", none, "Error"},
	} {
		status := parseSnapshot(t, test.input, test.problem).status()
		if got := status.ShortReason(); got != test.want {
			t.Errorf("%s\nis %q, want %q: %+v", test.input, got, test.want, status)
		}
	}
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
