package kubelet

import (
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// The host's clock is set back by an hour, so starts and ends of before lie in the future.
func TestAClockSetBackDelaysNoRestart(t *testing.T) {
	for _, failure := range []dockertest.Program{{Exits: true, After: time.Millisecond, ExitCode: 1}, {Missing: true}} {
		attempts := map[time.Duration]int{}
		for _, ahead := range []time.Duration{0, time.Hour} {
			inWorld(t, func(w *world) {
				w.docker.SetClock(ahead)
				w.program = func(string) dockertest.Program { return failure }
				w.start(pod("web", "main"))
				wait(10 * time.Second)
				w.docker.SetClock(0)
				wait(50 * time.Second)
				attempts[ahead] = w.newest("main")
			})
		}
		if attempts[0] < 5 || attempts[time.Hour] < attempts[0] || attempts[time.Hour] > attempts[0]+1 {
			t.Errorf("%+v: attempts in a minute by how far the clock was ahead: %v", failure, attempts)
		}
	}
}

func TestAClockSetBackReplacesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.inTurn(false)
		w.docker.SetClock(time.Hour)
		k := w.start(withInit(pod("web", "app", "app2"), "one", "two"))
		wait(1500 * time.Millisecond)
		w.docker.SetClock(0)
		w.settle("start", "web/app", "web/app2", "web/net")
		w.kill("web", "app", 1)
		w.settle("a crash", "web/app", "web/app2", "web/net")
		if one, two, app := w.newest("one"), w.newest("two"), w.newest("app"); one != 1 || two != 1 || app != 2 {
			t.Errorf("attempts %d, %d and %d, want 1, 1 and 2\n%s", one, two, app, w.describe())
		}
		if s := k.statuses(w)[0]; s.Phase != api.PodRunning {
			t.Errorf("the pod is %s: %+v", s.Phase, s)
		}
		net := w.id("web", "net")
		w.must(w.docker.Restart(net))
		w.settle("docker restart of the network container", "web/app", "web/app2", "web/net")
		w.checkID("web", "net", net, false)
	})
}

func TestAClockSetBackDelaysNoProbe(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetClock(time.Hour)
		e := w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{} })
		p := pod("web", "main")
		p.Manifest.Containers[0].LivenessProbe = &api.Probe{
			Exec: &api.ExecAction{Command: []string{"check"}}, InitialDelaySeconds: 5, PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1,
		}
		w.run(p)
		e.check(t, "check@5s", "check@15s", "check@25s", "check@35s", "check@45s", "check@55s")
	})
}
