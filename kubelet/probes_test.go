package kubelet

import (
	"errors"
	"slices"
	"strings"
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

// A restart of the kubelet is none of the container, and one by hand is.
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

// A probe that hangs is cut, counts as a failure, and delays nothing: not even
// an edit of its own pod.
func TestASlowProbeDelaysNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: time.Hour} })
		k := w.start(probed(pod("slow", "main", "side:1"), 1))
		time.Sleep(2 * time.Second)
		k.set(probed(pod("slow", "main", "side:2"), 1), pod("web", "main"))
		wait(time.Second)
		w.check("in the middle of the probe", "slow/main", "slow/net", "slow/side:2", "web/main", "web/net")
		old := w.id("slow", "main")
		wait(3500 * time.Millisecond)
		w.checkID("slow", "main", old, false)
		e.check(t, "check@1s")
	})
}

// A container whose answer takes longer than the period is not asked again before it,
// whatever becomes of its pod meanwhile.
func TestAContainerIsProbedOnceAtATime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = time.Second }
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 3 * time.Second} })
		k := w.start(probed(pod("web", "main", "side:1"), 1))
		time.Sleep(2500 * time.Millisecond) // in the middle of the first
		k.set(probed(pod("web", "main", "side:2"), 1))
		wait(10 * time.Second)
		w.check("all is well", "web/main", "web/net", "web/side:2")
		e.check(t, "check@1s", "check@5s", "check@9s")
	})
}

// Docker may refuse to run a command, or be busy for minutes, as after a boot of the host.
func TestAProbeThatCannotBeRunIsNoFailure(t *testing.T) {
	for _, fault := range []dockertest.Fault{{Before: errors.New("Docker does not answer")}, {Delay: 20 * time.Second}} {
		inWorld(t, func(w *world) {
			k := w.start(probed(pod("web", "main"), 0))
			wait(5 * time.Second)
			old := w.id("web", "main")
			w.docker.SetFault(on("Exec", fault))
			wait(10 * time.Minute)
			w.checkID("web", "main", old, true)
			notRun := slices.DeleteFunc(eventsOf(k), func(e api.Event) bool { return e.Reason != "probe not run" })
			if len(notRun) != 1 || fault.Before != nil && !strings.Contains(notRun[0].Message, "Docker does not answer") {
				t.Errorf("events %+v, want one", notRun)
			}
		})
	}
}

func TestAPausedContainerIsNotProbed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.run(probed(pod("web", "main"), 0))
		w.must(w.docker.Pause(w.id("web", "main")))
		settle()
		n := w.docker.Calls()["Exec"]
		settle()
		if now := w.docker.Calls()["Exec"]; now != n {
			t.Errorf("%d probes of a paused container", now-n)
		}
		w.check("paused", "web/main", "web/net")
	})
}
