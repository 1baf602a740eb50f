package kubelet

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

func TestAnUnhealthyContainerIsRestarted(t *testing.T) {
	inWorld(t, func(w *world) {
		n := 0
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome {
			if n++; n == 3 { // the hook is the first command
				return dockertest.ExecOutcome{ExitCode: 1, Output: "no database"}
			}
			return dockertest.ExecOutcome{}
		})
		k := w.start(hooked(probed(pod("web", "main", "side"), 0)))
		wait(time.Second)
		main, side := w.id("web", "main"), w.id("web", "side")
		wait(34 * time.Second)
		commands := []string{"hello@0s", "check@10s", "check@20s", "bye@20s", "hello@20s", "check@30s"}
		e.check(t, commands...)
		if w.id("web", "main") == main || w.id("web", "side") != side {
			t.Errorf("want a new main and the old side\n%s", w.describe())
		}
		k.lastIs(w, api.ReasonUnhealthy, "no database")
		k.set()
		settle()
		e.check(t, append(commands, "bye@35s")...)
	})
}

// A restart of the kubelet is not a restart of the container, but one by hand is.
func TestTheInitialDelayCountsFromTheStart(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(succeed)
		w.docker.SetFault(on("ListContainers", dockertest.Fault{Delay: 100 * time.Millisecond})) // it never shows the container dead
		k := w.start(probed(pod("web", "main"), 25))
		time.Sleep(12 * time.Second)
		k.end()
		w.start(probed(pod("web", "main"), 25))
		time.Sleep(time.Until(e.begun.Add(30 * time.Second)))
		id := w.id("web", "main")
		w.must(w.docker.Restart(id))
		wait(30 * time.Second)
		w.checkID("web", "main", id, true)
		e.check(t, "check@25.2s", "check@55s")
	})
}

// Otherwise all containers of a host would be probed at once after each restart of the kubelet.
func TestARestartOfTheKubeletKeepsThePhaseOfProbes(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(succeed)
		var pods []api.Pod
		k := w.start()
		for _, name := range []string{"a", "b", "c"} { // which start 3 s apart
			pods = append(pods, probed(pod(name, "main"), 0))
			k.set(pods...)
			wait(3 * time.Second)
		}
		k.end()
		e.check(t)
		wait(9 * time.Second)
		w.start(pods...)
		wait(12 * time.Second)
		e.check(t, "check@20s", "check@23s", "check@26s", "check@30s")
	})
}

// A probe that hangs is stopped, counts as a failure, and delays nothing, not even an edit of its own pod.
func TestASlowProbeDelaysNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: time.Hour} })
		k := w.start(probed(pod("slow", "main", "side:1"), 1))
		time.Sleep(2 * time.Second)
		k.set(probed(pod("slow", "main", "side:2"), 1), pod("web", "main"))
		w.after(time.Second, "in the middle of the probe", "slow/main", "slow/net", "slow/side:2", "web/main", "web/net")
		old := w.id("slow", "main")
		wait(3500 * time.Millisecond)
		w.checkID("slow", "main", old, false)
		e.check(t, "check@1s")
	})
}

// If an answer takes longer than the period, the next probe waits for it, whatever happens to the pod meanwhile. A
// paused container is not probed.
func TestAContainerIsProbedOnceAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = time.Second }
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 3 * time.Second} })
		k := w.start(probed(pod("web", "main", "side:1"), 1))
		time.Sleep(2500 * time.Millisecond) // in the middle of the first
		k.set(probed(pod("web", "main", "side:2"), 1))
		w.after(10*time.Second, "all is well", "web/main", "web/net", "web/side:2")
		w.must(w.docker.Pause(w.id("web", "main")))
		w.settle("paused", "web/main", "web/net", "web/side:2")
		asked := w.docker.Calls()["Exec"]
		settle()
		w.checkCalls("Exec", asked)
		e.check(t, "check@1s", "check@5s", "check@9s")
	})
}

// Docker may refuse to run a command, or be busy for minutes, for instance after the host has booted.
func TestAProbeThatCannotBeRunIsNoFailure(t *testing.T) {
	for _, fault := range []dockertest.Fault{{Before: errors.New("Docker does not answer")}, {Delay: 20 * time.Second}} {
		inWorld(t, func(w *world) {
			k := w.start(probed(pod("web", "main"), 0))
			wait(5 * time.Second)
			old := w.id("web", "main")
			w.docker.SetFault(on("Exec", fault))
			wait(10 * time.Minute)
			w.checkID("web", "main", old, true)
			notRun := slices.DeleteFunc(k.kl.Events(0), func(e api.Event) bool { return e.Reason != "probe not run" })
			if len(notRun) != 1 || fault.Before != nil && !strings.Contains(notRun[0].Message, "Docker does not answer") {
				t.Errorf("events %+v, want one", notRun)
			}
		})
	}
}

// probedToday makes a pod of today whose container has three probes, each of a command with its name.
func probedToday(startup, readiness, liveness api.Probe) api.Pod {
	p := pod("web", "main")
	p.Manifest.Version = api.VersionV1
	exec := func(command string, probe api.Probe) *api.Probe {
		probe.Exec = &api.ExecAction{Command: []string{command}}
		return &probe
	}
	main := &p.Manifest.Containers[0]
	main.StartupProbe, main.ReadinessProbe, main.LivenessProbe = exec("startup", startup), exec("readiness", readiness), exec("liveness", liveness)
	return p
}

// The startup probe comes first. The others count equal answers in a row; readiness changes only the status.
func TestTheThreeProbesOfToday(t *testing.T) {
	inWorld(t, func(w *world) {
		var e *execs
		e = w.asNow(func(since time.Duration) (outcome dockertest.ExecOutcome) {
			last := e.at[len(e.at)-1]
			between := func(probe string, from, to int) bool {
				return strings.HasPrefix(last, probe) && since >= time.Duration(from)*time.Second && since < time.Duration(to)*time.Second
			}
			if between("startup", 0, 3) || between("readiness", 0, 8) || between("readiness", 10, 12) || between("readiness", 18, 90) ||
				between("liveness", 9, 10) || between("liveness", 20, 90) {
				outcome.ExitCode = 1
			}
			return outcome
		})
		k := w.start(probedToday(
			api.Probe{PeriodSeconds: 1, FailureThreshold: 5}, api.Probe{PeriodSeconds: 2, SuccessThreshold: 2, FailureThreshold: 2},
			api.Probe{PeriodSeconds: 3, FailureThreshold: 3, InitialDelaySeconds: 6},
		))
		begun, old := time.Now(), ""
		for _, at := range []struct {
			second int
			why    string // it is not ready
		}{
			{2, "its startup probe failed 3 times in a row: "}, {4, "its readiness probe failed: "}, {10, "its readiness probe failed 3 times in a row: "},
			{14, "its readiness probe failed: "}, {16, ""}, {20, ""},
			{22, "its readiness probe failed 2 times in a row: "}, {25, "its readiness probe failed 4 times in a row: "},
		} {
			wait(time.Until(begun.Add(time.Duration(at.second)*time.Second + 500*time.Millisecond)))
			s := k.statuses(w)[0]
			main, ready := s.Containers[0], at.why == ""
			if s.Ready != ready || main.Ready != ready || s.Phase != api.PodRunning || !strings.HasPrefix(main.State.Running.Message, at.why) {
				t.Errorf("after %d s: pod %s, ready %v; container ready %v, %q; want running, %v, %q",
					at.second, s.Phase, s.Ready, main.Ready, main.State.Running.Message, ready, at.why)
			}
			old = w.id("web", "main")
		}
		commands := map[string][]string{}
		e.mu.Lock()
		asked := slices.Clone(e.at)
		e.mu.Unlock()
		for _, command := range asked {
			probe, at, _ := strings.Cut(command, "@")
			commands[probe] = append(commands[probe], at)
		}
		for probe, want := range map[string]string{
			"startup": "0s 1s 2s 3s", "readiness": "3s 5s 7s 9s 11s 13s 15s 17s 19s 21s 23s 25s", "liveness": "6s 9s 12s 15s 18s 21s 24s",
		} {
			if got := strings.Join(commands[probe], " "); got != want {
				t.Errorf("the %s probe runs at %s, want %s", probe, got, want)
			}
		}
		wait(2 * time.Second)
		w.checkID("web", "main", old, false)
		k.lastIs(w, api.ReasonUnhealthy, "its liveness probe failed 3 times in a row: ")
		var changes []string
		for _, e := range k.kl.Events(0) {
			if strings.HasSuffix(e.Reason, "ready") {
				changes = append(changes, e.Reason+": "+e.Message)
			}
		}
		notReady := `not ready: its readiness probe failed 2 times in a row: run "readiness": exit code 1`
		if want := []string{notReady, "ready: its readiness probe succeeded", notReady}; !slices.Equal(changes, want) {
			t.Errorf("events %q, want %q", changes, want)
		}
	})
}

// If the startup probe fails, the container is restarted before another probe runs. A late answer is a bad one.
func TestAStartupProbeThatFails(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: time.Hour} })
		k := w.start(probedToday(api.Probe{PeriodSeconds: 1, TimeoutSeconds: 2}, api.Probe{}, api.Probe{}))
		wait(7 * time.Second)
		old := w.id("web", "main")
		wait(1500 * time.Millisecond)
		w.checkID("web", "main", old, false)
		e.check(t, "startup@0s", "startup@3s", "startup@6s", "startup@8s")
		k.lastIs(w, api.ReasonUnhealthy, "its startup probe failed 3 times in a row: ", "no answer within 2s")
	})
}

func TestAStartupProbeAloneMakesReady(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(succeed)
		p := probedToday(api.Probe{InitialDelaySeconds: 3}, api.Probe{}, api.Probe{})
		p.Manifest.Containers[0].ReadinessProbe = nil
		k := w.start(p)
		wait(2 * time.Second)
		before := k.main(w).Ready
		wait(2 * time.Second)
		if after := k.main(w).Ready; before || !after {
			t.Errorf("ready before its startup probe: %v; after it: %v", before, after)
		}
	})
}

// What starts after a sidecar waits for its startup probe, not for its readiness probe, and not for the next tick.
func TestAStartupProbeOfASidecar(t *testing.T) {
	inWorld(t, func(w *world) {
		var e *execs
		e = w.asNow(func(since time.Duration) (outcome dockertest.ExecOutcome) {
			if since < 3*time.Second || strings.HasPrefix(e.at[len(e.at)-1], "readiness") {
				outcome.ExitCode = 1
			}
			return outcome
		})
		often := api.Probe{PeriodSeconds: 1, FailureThreshold: 10}
		p := probedToday(often, often, often)
		p.Manifest.InitContainers, p.Manifest.Containers = p.Manifest.Containers, pod("", "app").Manifest.Containers
		p.Manifest.InitContainers[0].Sidecar = true
		k := w.start(p)
		w.after(2500*time.Millisecond, "before the startup probe has succeeded", "web/main", "web/net")
		w.after(time.Second, "after it", "web/app", "web/main", "web/net")
		if s := k.statuses(w)[0]; s.Ready || s.Phase != api.PodRunning {
			t.Errorf("the pod is %s, ready: %v", s.Phase, s.Ready)
		}
	})
}

// The log reports a pod as up when its probes do. Later results are logged for the container. A container that has done
// its work is not waited for.
func TestTheLogSaysWhenAPodIsReady(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(since time.Duration) (outcome dockertest.ExecOutcome) {
			if since < 3*time.Second || since > 8*time.Second && since < 12*time.Second {
				outcome.ExitCode = 1
			}
			return outcome
		})
		ready := api.Probe{PeriodSeconds: 1, FailureThreshold: 2}
		p := probedToday(api.Probe{}, ready, api.Probe{})
		p.Manifest.Containers[0].StartupProbe, p.Manifest.Containers[0].LivenessProbe = nil, nil
		text := w.logged("0", func() { w.run(p, pod("plain", "main")) })
		var got []string
		for line := range strings.Lines(text) {
			if _, says, ok := strings.Cut(line, "] pod web.default.file "); ok && strings.HasPrefix(says, "is up") {
				got = append(got, strings.TrimSpace(says))
			}
		}
		if want := []string{"is up, not ready yet", "is up"}; !slices.Equal(got, want) || !strings.Contains(text, "pod plain.default.file is up\n") {
			t.Errorf("the log says %q, want %q:\n%s", got, want, text)
		}
	})
}

// A container that an edit cannot replace is shown as it is, with the wanted image and why it is missing.
func TestAnEditToAMissingImageChangesNoReadiness(t *testing.T) {
	inWorld(t, func(w *world) {
		var answer atomic.Int32
		w.asNow(func(time.Duration) dockertest.ExecOutcome {
			return dockertest.ExecOutcome{ExitCode: int(answer.Load())}
		})
		web := func(image string) api.Pod {
			p := ofImage(pod("web", "main"), image, api.PullIfNotPresent)
			p.Manifest.Containers[0].ReadinessProbe = &api.Probe{Exec: &api.ExecAction{Command: []string{"check"}}, PeriodSeconds: 10, TimeoutSeconds: 1,
				SuccessThreshold: 1, FailureThreshold: 1}
			return p
		}
		k := w.run(web("hello:1"))
		k.set(web("none:2"))
		settle()
		s := k.statuses(w)[0]
		c := s.Containers[0]
		if message := c.State.Running.Message; s.Phase != api.PodFailing || !s.Ready || !c.Ready || c.Image != "hello:1" ||
			!strings.Contains(message, "runs as before its edit to image none:2: ") {
			t.Errorf("after the edit: %s, ready %v, %+v: %q", s.Phase, s.Ready, c, message)
		}
		answer.Store(1)
		settle()
		if c := k.main(w); c.Ready {
			t.Errorf("its probe fails: %+v", c)
		}
		k.set(web("hello:1"))
		answer.Store(0)
		settle()
		if s := k.statuses(w)[0]; s.Phase != api.PodRunning || !s.Ready {
			t.Errorf("the edit is undone: %+v", s)
		}
	})
}

// A pod that is not ready counts as well only while its containers start for the first time.
func TestAPodThatIsNeverReadyIsNotWell(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "job", After: time.Second, Exec: func([]string) dockertest.ExecOutcome { return dockertest.ExecOutcome{ExitCode: 1} }}
		}
		neverReady := func(p api.Pod, delay int64) api.Pod {
			p.Manifest.Version = api.VersionV1
			p.Manifest.Containers[0].ReadinessProbe = &api.Probe{Exec: &api.ExecAction{Command: []string{"check"}}, PeriodSeconds: 1, TimeoutSeconds: 1,
				SuccessThreshold: 1, FailureThreshold: 3, InitialDelaySeconds: delay}
			return p
		}
		k := w.start(neverReady(pod("web", "main"), 0), neverReady(pod("slow", "main"), 20), pod("good", "main"), onFailure(pod("job", "job")))
		ill := func(want string) {
			t.Helper()
			got := ""
			for _, p := range k.statuses(w) {
				if !p.Well() {
					got += p.Name + " " + p.ShortReason() + " "
				}
			}
			if got != want {
				t.Errorf("not well: %q, want %q", got, want)
			}
		}
		wait(29 * time.Second)
		ill("")
		wait(5 * time.Second)
		ill("web NotReady ")
		w.kill("good", "main", 1)
		wait(20 * time.Second)
		ill("slow NotReady web NotReady ")
		w.kill("slow", "main", 1)
		wait(2 * time.Second)
		ill("slow NotReady web NotReady ") // at once
	})
}
