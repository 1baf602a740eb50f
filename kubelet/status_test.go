package kubelet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
)

var planNow = time.Date(2014, 10, 15, 12, 0, 0, 0, time.UTC)

// pulling has a pull that has come half way.
var pulling = &images{pulls: map[string]*pull{
	"hello:1": {running: true, progress: dockertools.PullProgress{Layers: 2, LayersDone: 1}},
}}

// parseSnapshot makes a podSnapshot of lines: the desired state is "want [policy] name:hash…",
// a container is "name:hash#attempt state [attribute=value]…".
func parseSnapshot(t *testing.T, input string, also func(*podSnapshot)) *podSnapshot {
	t.Helper()
	s := &podSnapshot{name: "p.default.test", images: &images{}}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "unwanted":
		case words[0] == "want":
			s.pod = &plan.Pod{Pod: api.Pod{UID: "u"}, FullName: s.name, Network: plan.Container{Name: "net", Hash: "n"}}
			for _, word := range words[1:] {
				name, hash, isContainer := strings.Cut(word, ":")
				switch {
				case word == "never":
					s.pod.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
				case word == "onFailure":
					s.pod.Manifest.RestartPolicy.OnFailure = &api.RestartPolicyOnFailure{}
				case name == "net":
					s.pod.Network.Hash = hash
				case isContainer:
					s.pod.Apps = append(s.pod.Apps, plan.Container{Name: name, Hash: hash, Spec: &api.Container{Image: "hello:1"}})
				}
			}
		default:
			s.containers = append(s.containers, parseContainer(t, words))
		}
	}
	if also != nil {
		also(s)
	}
	p := plan.Make(s.pod, s.containers, plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2}, planNow)
	s.finished, s.problems = p.Finished, append(s.problems, p.Problems...)
	return s
}

func parseContainer(t *testing.T, words []string) plan.Observed {
	t.Helper()
	attributes := map[string]string{}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		attributes[key] = value
	}
	duration := func(key, otherwise string) time.Duration {
		d, err := time.ParseDuration(cmp.Or(attributes[key], otherwise))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	number := func(key string) int {
		n, _ := strconv.Atoi(attributes[key])
		return n
	}
	name, attempt, _ := strings.Cut(words[0], "#")
	name, hash, _ := strings.Cut(name, ":")
	var c plan.Observed
	c.Of = dockertools.NameParts{Name: name, Hash: hash, PodFullName: "p.default.test", UID: cmp.Or(attributes["uid"], "u")}
	c.Of.Attempt, _ = strconv.Atoi(attempt)
	c.ID, c.Image, c.ImageID = words[0], "hello:1", "sha256:1"
	if c.IsNetwork() {
		c.Image, c.IP = "pause:1", "10.0.0.2"
	}
	c.Details.State, c.Owned.State = dockertools.State(words[1]), dockertools.State(words[1])
	c.QuickEnds, c.ExitCode = number("crashes"), number("exit")
	switch {
	case c.Details.State.Live():
		c.StartedAt = planNow.Add(-duration("up", "1h"))
	case c.Details.State.Ended():
		c.FinishedAt = planNow.Add(-duration("ended", "1h"))
		c.StartedAt = c.FinishedAt.Add(-duration("ran", "1h"))
	case attributes["failed"] != "":
		c.Error, c.ExitCode = attributes["failed"], 127
	}
	c.Created = planNow.Add(-duration("created", "1h"))
	if why := attributes["unhealthy"]; why != "" {
		c.Unhealthy = "its liveness probe failed: " + why
	}
	return c
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
			fmt.Fprintf(&b, "up %v: %s", planNow.Sub(state.Running.StartedAt), state.Running.Message)
		case state.Terminated != nil:
			fmt.Fprintf(&b, "ended %s", end(state.Terminated))
		case state.Waiting != nil:
			fmt.Fprintf(&b, "waits %s", reason(state.Waiting.Reason, state.Waiting.Message))
			if !state.Waiting.Next.IsZero() {
				fmt.Fprintf(&b, " in %v", state.Waiting.Next.Sub(planNow))
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
	for _, test := range []struct {
		name, input string
		also        func(*podSnapshot)
		want        string
	}{
		{"nothing is done yet", "want web:a side:b", nil,
			"pending : \nweb#1 waits Creating\nside#1 waits Creating\nnet#1 waits Creating\n"},
		{"created, and not started", "want web:a\nnet:n#1 running\nweb:a#1 created", nil,
			"pending 10.0.0.2: \nweb#1 waits Creating\nnet#1 up 1h0m0s: \n"},
		{"all run", "want web:a side:b\nnet:n#1 running\nweb:a#1 running up=5m\nside:b#3 running", nil,
			"running 10.0.0.2: \nweb#1 up 5m0s: \nside#3 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"one of two has not run yet", "want web:a side:b\nnet:n#1 running\nweb:a#1 running", nil,
			"pending 10.0.0.2: \nweb#1 up 1h0m0s: \nside#1 waits Creating\nnet#1 up 1h0m0s: \n"},
		{"a pod without containers is its network container", "want\nnet:n#1 running", nil,
			"running 10.0.0.2: \nnet#1 up 1h0m0s: \n"},
		{"one that is paused is alive", "want web:a\nnet:n#1 running\nweb:a#1 paused", nil,
			"running 10.0.0.2: \nweb#1 up 1h0m0s: it is paused; docker unpause lets it go on\nnet#1 up 1h0m0s: \n"},
		{"the attempt before it is being stopped", "want web:b\nnet:n#1 running\nweb:a#1 running\nweb:b#2 created", nil,
			"running 10.0.0.2: \nweb#2 waits Creating: the attempt before it is being stopped\nnet#1 up 1h0m0s: \n"},
		{"the pull is on its way", "want web:a\nnet:n#1 running", func(s *podSnapshot) {
			s.problems = []plan.Problem{{Container: "web", Reason: api.ReasonPulling, Message: "waits for the pull"}}
			s.images = pulling
		},
			"pending 10.0.0.2: \nweb#1 waits Pulling: pulling hello:1: 1 of 2 layers, 0B of 0B\nnet#1 up 1h0m0s: \n"},
		{"the pull is over, and there was no sync yet", "want web:a\nnet:n#1 running", func(s *podSnapshot) {
			s.problems = []plan.Problem{{Container: "web", Reason: api.ReasonPulling, Message: "waits for the pull"}}
		},
			"pending 10.0.0.2: \nweb#1 waits Pulling: waits for the pull\nnet#1 up 1h0m0s: \n"},
		{"the old form runs while the image of the new one is pulled", "want web:b\nnet:n#1 running\nweb:a#1 running", func(s *podSnapshot) {
			s.problems = []plan.Problem{{Container: "web", Reason: api.ReasonPulling, Message: "waits for the pull"}}
			s.images = pulling
		},
			"running 10.0.0.2: \nweb#1 up 1h0m0s: pulling hello:1: 1 of 2 layers, 0B of 0B\nnet#1 up 1h0m0s: \n"},
		{"a pull that failed has a time", "want web:a\nnet:n#1 running", func(s *podSnapshot) {
			s.problems = []plan.Problem{{Container: "web", Reason: api.ReasonPullFailed, Message: "no route", RetryAt: planNow.Add(4 * time.Second)}}
		},
			"pending 10.0.0.2: \nweb#1 waits PullFailed: no route in 4s\nnet#1 up 1h0m0s: \n"},
		{"a probe has failed, and it is not stopped yet", "want web:a\nnet:n#1 running\nweb:a#1 running unhealthy=refused", nil,
			"running 10.0.0.2: \nweb#1 up 1h0m0s: its liveness probe failed: refused\nnet#1 up 1h0m0s: \n"},
		{"back-off", "want web:a\nnet:n#1 running\nweb:a#1 exited ended=5s ran=1s exit=1\nweb:a#2 exited ended=1s ran=1s exit=3 crashes=3", nil,
			"running 10.0.0.2: \n" +
				"web#2 waits BackOff: ended with exit code 3; it ended soon after its start 4 times in a row, next start at " + clock(3) + " in 3s" +
				" / before: 3 Error\nnet#1 up 1h0m0s: \n"},
		{"it runs again: how it ended is the last thing known",
			"want web:a\nnet:n#1 running\nweb:a#1 exited exit=1\nweb:a#2 exited exit=2\nweb:a#3 running", nil,
			"running 10.0.0.2: \nweb#3 up 1h0m0s:  / before: 2 Error\nnet#1 up 1h0m0s: \n"},
		{"an end that is older than the pod's UID is none of it",
			"want web:a\nnet:n#1 running\nweb:a#1 exited exit=1 uid=other\nweb:a#1 running", nil,
			"running 10.0.0.2: \nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"its command is not there",
			"want web:a\nnet:n#1 running\nweb:a#1 created failed=x created=1s\nweb:a#2 created failed=x created=0s crashes=1",
			func(s *podSnapshot) { s.containers[2].Error = "exec: no such file or directory: unknown" },
			"pending 10.0.0.2: \n" +
				"web#2 waits CommandNotFound: could not start: exec: no such file or directory; " +
				"it ended soon after its start 2 times in a row, next start at " + clock(1) + " in 1s" +
				" / before: 127 CommandNotFound: exec: no such file or directory\nnet#1 up 1h0m0s: \n"},
		{"all have succeeded", "want onFailure web:a side:b\nweb:a#1 exited\nside:b#2 exited", nil,
			"succeeded : \nweb#1 ended 0 Completed\nside#2 ended 0 Completed\nnet#1 ended 0 Completed\n"},
		{"all have succeeded, and the network container is not removed yet",
			"want onFailure web:a\nnet:n#1 exited exit=137\nweb:a#1 exited", nil,
			"succeeded : \nweb#1 ended 0 Completed\nnet#1 ended 0 Completed\n"},
		{"one of all has failed", "want never web:a side:b\nweb:a#1 exited\nside:b#1 exited exit=3", nil,
			"failed : \nweb#1 ended 0 Completed\nside#1 ended 3 Error\nnet#1 ended 0 Completed\n"},
		{"one has done its work, the other one works", "want never web:a side:b\nnet:n#1 running\nweb:a#1 exited exit=3\nside:b#1 running", nil,
			"running 10.0.0.2: \nweb#1 ended 3 Error\nside#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"why it ended",
			"want never a:1 b:1 c:1 d:1\na:1#1 exited exit=137\nb:1#1 exited exit=137\nc:1#1 exited exit=137\nd:1#1 exited exit=1",
			func(s *podSnapshot) {
				s.containers[0].OOMKilled, s.containers[0].TerminationMessage = true, "it was here"
				s.containers[1].Killed = plan.Problem{Reason: api.ReasonUnhealthy, Message: "refused"}
				s.containers[1].TerminationMessage = "going down"
				s.containers[2].Killed = plan.Problem{Reason: api.ReasonHookFailed, Message: "no such file"}
				s.containers[3].TerminationMessage = "two\nlines\n"
			},
			"failed : \na#1 ended 137 OOMKilled: it was here\nb#1 ended 137 Unhealthy: refused\nc#1 ended 137 HookFailed: no such file\n" +
				"d#1 ended 1 Error: two; lines\nnet#1 ended 0 Completed\n"},
		{"the network container cannot start, and all wait for it", "want web:a side:b\nnet:n#1 created", func(s *podSnapshot) {
			taken := plan.Problem{Container: "net", Reason: api.ReasonPortTaken, Message: "port 80 is in use"}
			taken.RetryAt = planNow.Add(time.Second)
			s.problems = []plan.Problem{taken}
		},
			"pending : \nweb#1 waits NetworkContainer: the pod's network container: port 80 is in use in 1s\n" +
				"side#1 waits NetworkContainer: the pod's network container: port 80 is in use in 1s\n" +
				"net#1 waits PortTaken: port 80 is in use in 1s\n"},
		{"another pod has the port, and nothing of this one is there", "want web:a", func(s *podSnapshot) {
			s.conflict, s.problems = true, []plan.Problem{{Reason: api.ReasonPortTaken, Message: "pod x has port 80"}}
		},
			"pending : PortTaken: pod x has port 80\nweb#1 waits PortTaken: pod x has port 80\n" +
				"net#1 waits PortTaken: pod x has port 80\n"},
		{"another pod has the port, and this one runs as it was", "want net:m web:a\nnet:n#1 running\nweb:a#1 running", func(s *podSnapshot) {
			s.conflict, s.problems = true, []plan.Problem{{Reason: api.ReasonPortTaken, Message: "pod x has port 80"}}
		},
			"running 10.0.0.2: PortTaken: pod x has port 80\nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"another pod has the uuid that this one is to get, and it runs as it was",
			"want web:a\nnet:n#1 running uid=old\nweb:a#1 running uid=old", func(s *podSnapshot) {
				s.conflict, s.problems = true, []plan.Problem{{Reason: api.ReasonUUIDTaken, Message: "pod x has it"}}
			},
			"running 10.0.0.2: UUIDTaken: pod x has it\nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"Docker does not answer the pod's worker", "want web:a\nnet:n#1 running\nweb:a#1 running", func(s *podSnapshot) {
			s.problems = []plan.Problem{{Reason: api.ReasonDocker, Message: "no answer"}}
		},
			"running 10.0.0.2: Docker: no answer\nweb#1 up 1h0m0s: \nnet#1 up 1h0m0s: \n"},
		{"it is removed", "unwanted\nnet:n#1 running\nside:b#1 exited exit=3\nweb:a#1 exited\nweb:a#2 running", nil,
			"running 10.0.0.2: Removed: it is no longer wanted, and its containers are removed\nnet#1 up 1h0m0s: \n" +
				"side#1 ended 3 Error\nweb#2 up 1h0m0s:  / before: 0 Completed\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parseSnapshot(t, test.input, test.also)
			if diff := gocmp.Diff(test.want, statusText(s.status())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// clock formats a time of day.
func clock(seconds int) string {
	return planNow.Add(time.Duration(seconds) * time.Second).Local().Format(time.TimeOnly)
}

// What 2014's clients read of a pod is where it was.
func TestStatusAsJSON(t *testing.T) {
	input := "want never web:a side:b late:c\nnet:n#1 running\nweb:a#3 exited exit=3 ended=1m\nside:b#1 running"
	s := parseSnapshot(t, input, func(s *podSnapshot) { s.containers[1].TerminationMessage = "m" })
	s.name = "p.ns.file"
	got, err := json.Marshal(s.status())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"p","namespace":"ns","uid":"u","source":"file","origin":"","phase":"pending","podIP":"10.0.0.2",
"containers":[
{"name":"web","state":{"termination":{"exitCode":3,"reason":"Error","message":"m","startedAt":"2014-10-15T10:59:00Z",
"finishedAt":"2014-10-15T11:59:00Z"}},"restartCount":2,"image":"hello:1","imageID":"sha256:1"},
{"name":"side","state":{"running":{"startedAt":"2014-10-15T11:00:00Z"}},"restartCount":0,"image":"hello:1","imageID":"sha256:1"},
{"name":"late","state":{"waiting":{"reason":"Creating"}},"restartCount":0,"image":"hello:1"},
{"name":"net","state":{"running":{"startedAt":"2014-10-15T11:00:00Z"}},"restartCount":0,"podIP":"10.0.0.2","image":"pause:1",
"imageID":"sha256:1"}]}`
	if diff := gocmp.Diff(strings.ReplaceAll(want, "\n", ""), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatusesOfAllPods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "job", ExitCode: 3, LastWords: "sorry", IgnoreTerm: name == "stubborn"}
		}
		w.options = func(o *Options) {
			o.SourceErrors = func() map[string]string { return map[string]string{"file": "c.yaml is bad"} }
		}
		never := pod("job", "job")
		never.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
		k := w.run(publish(pod("a", "main"), 80), publish(pod("b", "main"), 80), never, pod("going", "stubborn"))
		k.set(publish(pod("a", "main"), 80), publish(pod("b", "main"), 80), never)
		time.Sleep(time.Second) // "going" is being stopped
		before := w.docker.Calls()
		statuses := k.statuses(w)
		var got strings.Builder
		for _, s := range statuses {
			fmt.Fprintf(&got, "%s (%s) %s %s %s", s.Name, s.Origin, s.Phase, s.Reason, s.SourceError)
			for _, c := range s.Containers {
				fmt.Fprintf(&got, ", %s %s", c.Name, stateText(c.State))
			}
			fmt.Fprintln(&got)
		}
		want := `a (a.yaml) running  c.yaml is bad, main running, net running
b (b.yaml) pending PortTaken c.yaml is bad, main PortTaken, net PortTaken
going (going.yaml) running Removed c.yaml is bad, net running, stubborn running
job (job.yaml) failed  c.yaml is bad, job Error sorry, net Completed 
`
		if diff := gocmp.Diff(want, got.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for method, n := range w.docker.Calls() {
			if n != before[method] && method != "ListContainers" {
				t.Errorf("the statuses took %d calls of %s although nothing changed", n-before[method], method)
			}
		}
		w.docker.Down()
		synctest.Wait() // for the end of the events
		if _, _, err := k.kl.Statuses(); err == nil {
			t.Error("there is a status although Docker does not answer")
		}
		w.docker.Up()
	})
}

func stateText(s api.ContainerState) string {
	switch {
	case s.Terminated != nil:
		return s.Terminated.Reason + " " + s.Terminated.Message
	case s.Waiting != nil:
		return s.Waiting.Reason
	}
	return "running"
}

func TestOutOfMemoryThatDockerReportsLate(t *testing.T) {
	for _, late := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.program = func(name string) dockertest.Program {
				return dockertest.Program{Exits: true, After: time.Second, ExitCode: 137, OOMKilled: true, OOMIsLate: late}
			}
			never := pod("job", "main")
			never.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
			k := w.run(never)
			statuses := k.statuses(w)
			if main := statuses[0].Containers[0]; main.State.Terminated == nil || main.State.Terminated.Reason != api.ReasonOOMKilled {
				t.Errorf("late %v: its state is %s", late, stateText(main.State))
			}
		})
	}
}
