package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// TestHooksRunOnce restarts the kubelet. The handlers are in a label: a pod that was removed
// while no kubelet ran gets its preStop.
func TestHooksRunOnce(t *testing.T) {
	for _, ends := range []bool{false, true} {
		inWorld(t, func(w *world) {
			e := w.asNow(succeed)
			k := w.start(hooked(pod("web", "main")))
			time.Sleep(time.Second)
			k.end()
			k = w.start(hooked(pod("web", "main")))
			wait(time.Second)
			w.check("after a restart of the kubelet", "web/main", "web/net")
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
			wait(500 * time.Millisecond)
			w.check("two failures", "web/net", "web/side")
			if waiting := k.main(w).State.Waiting; waiting == nil || waiting.Reason != api.ReasonBackOff {
				t.Errorf("it waits for %+v", waiting)
			}
			k.lastIs(w, api.ReasonHookFailed, "no database")
			w.settle("the third succeeds", "web/main", "web/net", "web/side")
			e.check(t, strings.Fields(commands)...)
		})
	}
}

// A postStart that hangs costs its container that attempt. It holds back no other pod, ends
// at an edit of its own pod, and is cut in the end.
func TestAHookThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: time.Hour} })
		k := w.start(hooked(pod("hangs", "main")))
		wait(postStartLimit - time.Millisecond)
		main := w.id("hangs", "main")
		wait(stopGrace + time.Second) // its preStop takes as long as it may
		w.checkID("hangs", "main", main, false)
		k.lastIs(w, api.ReasonHookFailed, "its postStart hook failed: ", "it took longer than 30s")
		k.set(hooked(pod("hangs", "main")), pod("web", "main"))
		wait(time.Second)
		w.check("in the middle of its postStart", "hangs/main", "hangs/net", "web/main", "web/net")
		k.set(pod("hangs", "other"), pod("web", "main"))
		wait(11 * time.Second) // what takes it is the preStop of the old container
		w.check("edited", "hangs/net", "hangs/other", "web/main", "web/net")
		k.set()
		w.settle("removed")
	})
}

// A problem is no longer reported once its container was started, although the work goes on.
func TestAProblemEndsWithItsCause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.asNow(func(time.Duration) dockertest.ExecOutcome { return dockertest.ExecOutcome{After: 20 * time.Second} })
		dir := filepath.Join(w.rootDir+"-host", "data")
		p := hooked(pod("web", "main"))
		p.Manifest.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{Path: dir}}
		k := w.run(p)
		if s := k.main(w).State; s.Waiting == nil || s.Waiting.Reason != api.ReasonHostDirMissing {
			t.Errorf("without its directory: %+v", s.Waiting)
		}
		w.must(os.MkdirAll(dir, 0o755))
		wait(15 * time.Second)
		if s := k.main(w).State; s.Running == nil || s.Running.Message != "its postStart hook has not succeeded yet" {
			t.Errorf("in the middle of its hook: %+v", s.Running)
		}
	})
}
