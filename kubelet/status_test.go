package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// While a stop lasts, the status has its reason and time. Afterwards it is not a crash, even for the next kubelet; an
// end without a stop is one.
func TestAStopIsAWaitAndNoCrash(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		k := w.run(pod("web", "main", "old"))
		k.set(pod("web", "main"))
		wait(time.Second)
		until := " has until " + time.Now().Add(9*time.Second).Format(time.TimeOnly) + " to end"
		if s := k.statuses(w)[0]; s.Phase != api.PodPending || s.Containers[2].Name != "old" || s.Containers[2].State.Running.Message != "Stopping: attempt 1"+until {
			t.Errorf("while a container is stopped that the manifest no longer has, the status is %+v", s)
		}
		settle()
		k.set(pod("web", "main:2"))
		wait(time.Second)
		until = " has until " + time.Now().Add(9*time.Second).Format(time.TimeOnly) + " to end"
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

// While a pod is being repaired, the problem before the repair does not count.
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
