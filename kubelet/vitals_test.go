package kubelet

import (
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools/dockertest"
)

// healthIs compares what a kubelet says of itself; an empty word means it is well.
func (k *kubelet) healthIs(t *testing.T, when, word string) {
	t.Helper()
	switch err := k.kl.Health(); {
	case word == "" && err != nil:
		t.Errorf("%s: it is ill: %v", when, err)
	case word != "" && (err == nil || !strings.Contains(err.Error(), word)):
		t.Errorf("%s: it says %v, want %q", when, err, word)
	}
}

func TestHealthGoesByDocker(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.Down()
		k := w.start(pod("web", "main"))
		settle()
		k.healthIs(t, "Docker was never there", "cannot reach Docker")
		if _, _, err := k.kl.Statuses(); err == nil || !strings.Contains(err.Error(), "cannot reach Docker") {
			t.Errorf("without Docker the statuses are %v", err)
		}
		w.docker.Up()
		settle()
		k.healthIs(t, "Docker has come", "")
		w.docker.Down()
		time.Sleep(time.Millisecond) // the end of the events is enough
		k.healthIs(t, "Docker has gone", "Docker")
		settle()
		k.healthIs(t, "Docker is away", "cannot reach Docker")
		w.docker.Up()
		settle()
		k.healthIs(t, "Docker is back", "")
	})
}

func TestHealthGoesByTheSyncLoop(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.start(pod("web", "main"))
		settle()
		w.docker.SetFault(always("ListContainers", dockertest.Fault{Delay: time.Hour}))
		time.Sleep(15 * time.Second)
		k.healthIs(t, "the loop hangs since at most 15 s", "")
		time.Sleep(20 * time.Second)
		k.healthIs(t, "the loop hangs since more than two periods", "the sync loop has been busy for")
		w.docker.SetFault(nil)
		time.Sleep(2 * time.Hour)
		k.healthIs(t, "the loop turns again", "")
	})
}

func TestAKubeletThatKnowsNothingYetIsNotHealthy(t *testing.T) {
	inWorld(t, func(w *world) {
		kl, closeRoot := w.newKubelet()
		defer closeRoot()
		k := &kubelet{kl: kl}
		k.healthIs(t, "it has not begun", "not looked at Docker yet")
	})
}

func TestStatusesCostNothingWhileNothingChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.start(pod("a", "main"), pod("b", "main"))
		settle()
		calls := func(when string, want int) {
			t.Helper()
			before := w.docker.Calls()
			statuses, _, err := k.kl.Statuses()
			if err != nil || len(statuses) != 2 {
				t.Fatalf("%s: %d pods, %v", when, len(statuses), err)
			}
			after := w.docker.Calls()
			if got := after["ListContainers"] - before["ListContainers"]; got != want {
				t.Errorf("%s: it took %d lists, want %d", when, got, want)
			}
		}
		calls("nothing has changed", 0)
		id := w.id("a", "main")
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault { // the kubelet itself is kept from a look
			return dockertest.Fault{Delay: map[string]time.Duration{"CreateContainer": time.Hour}[c.Method]}
		})
		if err := w.docker.Kill(id, 3); err != nil {
			t.Fatal(err)
		}
		settle()
		statuses, _, err := k.kl.Statuses()
		if err != nil {
			t.Fatal(err)
		}
		if main := statuses[0].Containers[0]; main.State.Running != nil {
			t.Errorf("the container was killed, and its state is %+v", main.State)
		}
		calls("and all has been seen", 0)
	})
}
