package kubelet

import (
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// restartByHand is `docker restart`: Docker starts the container some time after it has ended.
func (w *world) restartByHand(id string, pause time.Duration) {
	w.t.Helper()
	w.must(w.docker.ByHand().StopContainer(w.t.Context(), id, 10*time.Second))
	wait(pause)
	w.must(w.docker.ByHand().StartContainer(w.t.Context(), id))
}

func TestDockerRestartKeepsTheContainer(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		id := w.id("web", "main")
		for _, pause := range []time.Duration{0, time.Second} {
			w.restartByHand(id, pause)
			w.settle("docker restart", "web/main", "web/net")
			w.checkID("web", "main", id, true)
		}
		if c := k.main(w); c.RestartCount != 0 || !c.Ready {
			t.Errorf("its status: %+v", c)
		}
	})
}

func TestDockerStopIsRepairedAfterAMoment(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		w.must(w.docker.ByHand().StopContainer(w.t.Context(), w.id("web", "main"), time.Second))
		w.after(time.Second, "a second later", "web/net")
		if waits := k.main(w).State.Waiting; waits == nil || !strings.Contains(waits.Message, "somebody stopped it") {
			t.Errorf("it waits: %+v", waits)
		}
		w.after(2*time.Second, "three seconds later", "web/main", "web/net")
		// A SIGKILL does not mean a restart.
		wait(time.Hour)
		w.kill("web", "main", 137)
		w.after(0, "after docker kill", "web/main", "web/net")
	})
}

// Docker may take long to start the container that it restarts, on a busy host. By then the next attempt exists, or
// runs for a moment.
func TestADockerRestartThatTakesLong(t *testing.T) {
	for _, test := range []struct {
		call    string // of the next attempt, before which Docker starts the first
		doubles int
	}{{"CreateContainer", 0}, {"StartContainer", 1}} {
		t.Run(test.call, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.journal.byHand = true
				web := pod("web", "main")
				grace := int64(600)
				web.Manifest.TerminationGracePeriodSeconds = &grace
				w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
				k := w.run(web)
				id := w.id("web", "main")
				w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
					if c.Method == test.call && strings.Contains(c.Container, "k8s_main") {
						w.docker.SetFault(nil)
						w.must(w.docker.ByHand().StartContainer(w.t.Context(), id))
					}
					return dockertest.Fault{}
				})
				w.kill("web", "main", 137)
				w.after(0, "at once", "web/main", "web/net")
				w.checkID("web", "main", id, true)
				if w.journal.doubles != test.doubles {
					t.Errorf("%d attempts ran beside another one, want %d", w.journal.doubles, test.doubles)
				}
				w.settle("a minute later", "web/main", "web/net")
				if s := k.statuses(w)[0]; s.Phase != api.PodRunning {
					t.Errorf("the pod is %s: %+v", s.Phase, s)
				}
			})
		})
	}
}

func TestAnOldAttemptThatIsStartedByHandEndsAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.journal.byHand = true
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		w.run(pod("web", "main"))
		old := w.id("web", "main")
		w.kill("web", "main", 1)
		settle()
		id := w.id("web", "main")
		w.must(w.docker.ByHand().StartContainer(w.t.Context(), old))
		w.after(0, "at once", "web/main", "web/net")
		w.checkID("web", "main", id, true)
	})
}
