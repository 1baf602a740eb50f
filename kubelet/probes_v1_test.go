package kubelet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

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

// The startup probe comes first. The others count the answers in a row; readiness changes nothing but the status.
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
				t.Errorf("%s is asked at %s, want %s", probe, got, want)
			}
		}
		wait(2 * time.Second)
		w.checkID("web", "main", old, false)
		k.lastIs(w, api.ReasonUnhealthy, "its liveness probe failed 3 times in a row: ")
		var changes []string
		for _, e := range eventsOf(k) {
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

// A startup probe that fails restarts its container before another probe runs. A late answer is a bad one.
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
