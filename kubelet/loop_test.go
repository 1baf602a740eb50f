package kubelet

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// TestALateListDecidesNothing: a list is taken while a worker is busy, and arrives 10 s
// later, when the worker has long ended. It does not show what the worker did.
func TestALateListDecidesNothing(t *testing.T) {
	for late := range 12 { // which list is late
		inWorld(t, func(w *world) {
			docker := slowAnswer{w.docker, &atomic.Bool{}}
			w.options = func(o *Options) { o.SyncFrequency, o.Docker = time.Second, docker }
			w.importPause()
			w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
				return dockertest.Fault{Delay: map[string]time.Duration{"CreateContainer": 1500 * time.Millisecond}[c.Method]}
			})
			k := w.start(pod("web", "main:old"))
			time.Sleep(time.Duration(late) * 500 * time.Millisecond)
			docker.late.Store(true)
			settle()
			docker.late.Store(true)
			k.set(pod("web", "main:new"))
			w.settle("a minute after the edit", "web/main:new", "web/net")
			if n := w.docker.Calls()["CreateContainer"]; n != 3 {
				t.Errorf("list %d is late: %d creations, want 3\n%s", late, n, w.describe())
			}
		})
	}
}

// TestAnInspectThatHangs delays the repair of other pods by 10 s once, and then for a minute
// not at all.
func TestAnInspectThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("broken", "main"), pod("web", "main"))
		hangs := w.id("broken", "main")
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Delay: time.Hour}, "_broken.", "_main."))
		w.must(w.docker.Kill(hangs, 1))
		for i, limit := range []time.Duration{inspectLimit, 0, 0} {
			w.kill("web", "main", 1)
			wait(limit + 5*time.Second) // 5 s are more than the back-off of the third start
			w.check(fmt.Sprintf("%v and 5 s after kill %d", limit, i+1), "broken/net", "web/main", "web/net")
		}
		statuses, _, err := k.kl.Statuses()
		if err != nil || statuses[0].Reason != api.ReasonDocker || !strings.Contains(statuses[0].Message, "no answer from Docker within 10s") {
			t.Errorf("the broken pod: %+v, %v", statuses[0], err)
		}
		w.docker.SetFault(nil)
		time.Sleep(inspectRetry)
		w.settle("when Docker answers again", "broken/main", "broken/net", "web/main", "web/net")
	})
}

// TestNoWakeupIsLost: without ticks, every end of a pull and every end of work must lead to
// the next sync, in whatever order they come.
func TestNoWakeupIsLost(t *testing.T) {
	for i := range 200 {
		inWorld(t, func(w *world) {
			w.options = func(o *Options) { o.SyncFrequency = 24 * time.Hour }
			pull := time.Duration(i) * 7 * time.Millisecond
			w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: pull})
			attempts := 0
			w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
				switch c.Method {
				case "PullImage":
					if attempts++; attempts <= i%3 {
						return dockertest.Fault{Before: errors.New("connection refused")}
					}
				case "CreateContainer", "StartContainer":
					return dockertest.Fault{Delay: 300 * time.Millisecond}
				}
				return dockertest.Fault{}
			})
			two := ofImage(pod("two", "main", "side"), "big:1", "")
			w.run(ofImage(pod("one", "main"), "big:1", api.PullAlways), two)
			w.check(fmt.Sprintf("run %d", i), "one/main", "one/net", "two/main", "two/net", "two/side")
		})
		if t.Failed() {
			return
		}
	}
}

// TestAPodThatCannotBeCreatedIsCheap also has another pod that crashes and a third that
// pulls: neither Docker's events nor the ends of pulls shorten the back-off.
func TestAPodThatCannotBeCreatedIsCheap(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "crashes", ExitCode: 1, After: time.Second}
		}
		var creations atomic.Int64
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			if c.Method == "CreateContainer" && strings.HasPrefix(c.Container, "k8s_full.") {
				creations.Add(1)
				return dockertest.Fault{Before: errors.New("no space left on device")}
			}
			return dockertest.Fault{}
		})
		w.run(pod("web", "full"), pod("other", "crashes"), ofImage(pod("missing", "main"), "missing:1", ""))
		before, calls := creations.Load(), w.docker.Calls()
		wait(time.Hour)
		if n := creations.Load() - before; n < 350 || n > 362 {
			t.Errorf("%d creations in an hour, want one each 10 s", n)
		}
		limits := map[string]int{"ListContainers": 2400, "InspectContainer": 400, "PullImage": 15}
		for method, limit := range limits {
			if n := w.docker.Calls()[method] - calls[method]; n > limit {
				t.Errorf("%d calls of %s in an hour, want at most %d", n, method, limit)
			}
		}
	})
}

// TestAnotherRootDirIsNoticedAtEverySync: while there are containers of a kubelet with the
// same hostname and another root_dir, this one changes nothing.
func TestAnotherRootDirIsNoticedAtEverySync(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		other := dockertools.Identity{Hostname: "host", RootDir: "/elsewhere"}
		name := "k8s_main.12345678_db.default.file_uid-db_1"
		id, err := w.docker.RunStranger(dockertools.ContainerSpec{Name: name, Image: "hello:1", Labels: other.Labels(name)})
		if err != nil {
			t.Fatal(err)
		}
		settle()
		k.healthIs(t, "next to another root_dir", "/elsewhere")
		k.set(pod("new", "main"))
		settle()
		if n := w.docker.Calls()["CreateContainer"]; n > 3 { // one fails as the built-in image is missing
			t.Errorf("%d creations: it changes something", n)
		}
		w.must(w.docker.ByHand().RemoveContainer(t.Context(), id))
		settle()
		k.healthIs(t, "alone again", "")
		w.check("alone again", "new/main", "new/net")
	})
}
