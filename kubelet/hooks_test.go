package kubelet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// TestHooksRunOnce restarts the kubelet. A label has the hooks, so the preStop hook runs even if the pod was removed
// while no kubelet ran.
func TestHooksRunOnce(t *testing.T) {
	for _, ends := range []bool{false, true} {
		inWorld(t, func(w *world) {
			e := w.asNow(succeed)
			k := w.start(hooked(pod("web", "main")))
			time.Sleep(time.Second)
			k.end()
			k = w.start(hooked(pod("web", "main")))
			w.after(time.Second, "after a restart of the kubelet", "web/main", "web/net")
			if ends {
				k.end()
				w.start()
			} else {
				k.set()
			}
			w.settle("removed")
			e.check(t, "hello@0s", "bye@2s")
		})
	}
}

// Without any grace the stop runs no preStop hook.
func TestAPostStartThatFailsStopsItsContainer(t *testing.T) {
	for grace, commands := range map[int64]string{10: "hello@0s bye@0s hello@0s bye@0s hello@1s", 0: "hello@0s hello@0s hello@1s"} {
		inWorld(t, func(w *world) {
			e := w.asNow(func(since time.Duration) dockertest.ExecOutcome {
				if since < time.Second {
					return dockertest.ExecOutcome{ExitCode: 3, Output: "no database"}
				}
				return dockertest.ExecOutcome{}
			})
			p := hooked(pod("web", "main", "side"))
			p.Manifest.TerminationGracePeriodSeconds = &grace
			k := w.start(p)
			w.after(500*time.Millisecond, "two failures", "web/net", "web/side")
			if waiting := k.main(w).State.Waiting; waiting == nil || waiting.Reason != api.ReasonBackOff {
				t.Errorf("it waits for %+v", waiting)
			}
			k.lastIs(w, api.ReasonHookFailed, "no database")
			w.settle("the third succeeds", "web/main", "web/net", "web/side")
			e.check(t, strings.Fields(commands)...)
		})
	}
}

// If a postStart hook hangs, its container loses the attempt. The hook delays no other pod, ends when its own pod is
// edited, and is stopped after its time limit.
func TestAHookThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: time.Hour} })
		k := w.start(hooked(pod("hangs", "main")))
		wait(30*time.Second - time.Millisecond)
		main := w.id("hangs", "main")
		wait(11 * time.Second) // its preStop takes as long as it may
		w.checkID("hangs", "main", main, false)
		k.lastIs(w, api.ReasonHookFailed, "its postStart hook failed: ", "it took longer than 30s")
		k.set(hooked(pod("hangs", "main")), pod("web", "main"))
		w.after(time.Second, "in the middle of its postStart", "hangs/main", "hangs/net", "web/main", "web/net")
		k.set(pod("hangs", "other"), pod("web", "main"))
		wait(11 * time.Second) // what takes it is the preStop of the old container
		w.check("edited", "hangs/net", "hangs/other", "web/main", "web/net")
		k.set()
		w.settle("removed")
	})
}

// A renamed file has the same manifest.
func TestAMoveOfTheManifestInterruptsNoHook(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 20 * time.Second} })
		k := w.start(hooked(pod("web", "main")))
		wait(5 * time.Second)
		main, moved := w.id("web", "main"), hooked(pod("web", "main"))
		moved.Origin = "other.yaml"
		k.set(moved)
		settle()
		w.checkID("web", "main", main, true)
		if status := k.statuses(w)[0]; status.Origin != "other.yaml" || status.Phase != api.PodRunning {
			t.Errorf("the pod is %s, from %s", status.Phase, status.Origin)
		}
	})
}

// If nothing is at the path of a hostPath, its container has a problem. The problem ends when the container has
// started, although the work goes on.
func TestAProblemEndsWithItsCause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 20 * time.Second} })
		dir := filepath.Join(w.rootDir+"-host", "data")
		p := hooked(pod("web", "main"))
		p.Manifest.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{Path: dir}}
		k := w.run(p)
		check := func(message string) {
			t.Helper()
			waiting := k.main(w).State.Waiting
			if waiting == nil || waiting.Reason != api.ReasonHostDirMissing || !strings.HasPrefix(waiting.Message, "cannot be created: "+message) {
				t.Errorf("without its directory the container waits for %+v", waiting)
			}
		}
		check("")
		p.Manifest = p.Manifest.Clone()
		p.Manifest.Volumes[0].Source.HostDir.Type = api.HostDirDirectory
		k.set(p)
		settle()
		check(`volume "data": ` + dir + " is missing, and must be a Directory")
		w.must(os.MkdirAll(dir, 0o755))
		wait(15 * time.Second)
		if s := k.main(w).State; s.Running == nil || !strings.HasPrefix(s.Running.Message, "PostStart: its hook has until ") {
			t.Errorf("in the middle of its hook: %+v", s.Running)
		}
		if k.end(); slices.ContainsFunc(k.kl.Events(0), func(e api.Event) bool { return e.Reason == "killing" }) {
			t.Error("the end of the kubelet, which stops no container, is told as a stop")
		}
	})
}

// A label has the grace of a pod whose manifest is gone. A kubelet that ends does not wait for the end of the grace.
func TestTheGraceOfAPod(t *testing.T) {
	for _, seconds := range []int64{-1, 0, 1, 30, 3600} { // -1: as in 2014
		inWorld(t, func(w *world) {
			hangs := func([]string) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 2 * time.Hour} }
			w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true, Exec: hangs} }
			p := hooked(pod("web", "main"))
			p.Manifest.Containers[0].Lifecycle.PostStart = nil
			grace := 10 * time.Second
			if seconds >= 0 {
				p.Manifest.TerminationGracePeriodSeconds, grace = &seconds, time.Duration(seconds)*time.Second
			}
			w.run(p).end()
			k := w.start()
			if grace > 0 {
				w.after(grace-time.Millisecond, "just before the end of the grace", "web/main", "web/net")
				w.checkVolumes(p)
			}
			w.after(time.Millisecond, "after it")
			w.checkVolumes()
			if ran := slices.ContainsFunc(k.kl.Events(0), func(e api.Event) bool { return e.Reason == "preStop failed" }); ran != (grace > 0) {
				t.Errorf("with a grace of %v the preStop hook was run: %v", grace, ran)
			}

			k.set(p)
			settle()
			k.set()
			wait(0)
			began := time.Now()
			if k.end(); time.Since(began) > 2*time.Second {
				t.Errorf("in the middle of a stop the kubelet ends after %v", time.Since(began))
			}
		})
	}
}
