package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/observe"
)

// TestALateListDecidesNothing: a list is taken while a worker is busy, and arrives 10 s
// later, when the worker has long ended. It does not show what the worker did.
func TestALateListDecidesNothing(t *testing.T) {
	for late := range 12 { // which list is late
		inWorld(t, func(w *world) {
			docker := slowAnswer{w.docker, &atomic.Bool{}}
			w.options = func(o *Options) { o.SyncFrequency, o.Docker = time.Second, docker }
			w.importPause()
			w.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: 1500 * time.Millisecond}))
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

// TestAnInspectThatHangs: the repair of other pods is delayed twice, by 10 s, and then for a minute not at all, unless
// an event shows that Docker has done something with the container.
func TestAnInspectThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("broken", "main"), pod("web", "main"))
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Delay: time.Hour}, "_broken.", "_main."))
		w.kill("broken", "main", 1)
		for i, limit := range []time.Duration{2 * observe.InspectLimit, 0, 0} {
			w.kill("web", "main", 1)
			wait(limit + 5*time.Second) // 5 s are more than the back-off of the third start
			w.check(fmt.Sprintf("%v and 5 s after kill %d", limit, i+1), "broken/net", "web/main", "web/net")
		}
		broken := k.statuses(w)[0]
		if broken.Reason != api.ReasonDocker || !strings.Contains(broken.Message, "no answer from Docker within 10s") {
			t.Errorf("the broken pod: %+v", broken)
		}
		w.docker.SetFault(nil)
		time.Sleep(observe.InspectRetry)
		w.settle("when Docker answers again", "broken/main", "broken/net", "web/main", "web/net")
		for _, event := range []time.Duration{observe.InspectLimit / 2, 2 * observe.InspectLimit} { // such as the end of a slow start
			id := w.id("broken", "main")
			w.docker.SetFault(on("InspectContainer", dockertest.Fault{Delay: time.Hour}, "_broken.", "_main."))
			w.kill("broken", "main", 1)
			wait(event)
			w.docker.SetFault(nil)
			w.must(w.docker.StartContainer(w.t.Context(), id))
			wait(observe.InspectLimit)
			if broken := k.statuses(w)[0]; broken.Reason == api.ReasonDocker {
				t.Errorf("after an event %v after the question: %+v", event, broken)
			}
		}
	})
}

// A Docker that was frozen is asked again at once, also for the containers whose inspects have found no answer. The error
// of a Docker that was restarted before it does not count.
func TestADockerThatWasFrozen(t *testing.T) {
	for _, failures := range []int{0, 1} { // of each inspect before Docker is frozen
		inWorld(t, func(w *world) {
			var pods []api.Pod
			var want []string
			for i := range 30 {
				name := fmt.Sprintf("web-%02d", i)
				pods = append(pods, pod(name, "main"))
				want = append(want, name+"/main", name+"/net")
			}
			w.run(pods...)
			var mu sync.Mutex
			failed := map[string]int{}
			var thaws time.Time // zero: not frozen yet, as it will be with an inspect
			w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
				mu.Lock()
				defer mu.Unlock()
				if c.Method == "InspectContainer" && failed[c.Container] < failures {
					failed[c.Container]++
					return dockertest.Fault{Before: io.ErrUnexpectedEOF}
				}
				if c.Method == "InspectContainer" && thaws.IsZero() {
					thaws = time.Now().Add(observe.InspectLimit + 5*time.Second)
				}
				return dockertest.Fault{Delay: time.Until(thaws)}
			})
			for _, p := range pods {
				w.kill(p.Name, "main", 1)
			}
			wait(observe.InspectLimit) // until Docker is frozen: the next sync is not later
			wait(time.Until(thaws))
			w.after(2*observe.InspectLimit, fmt.Sprintf("killed before Docker was frozen, and after %d errors", failures), want...)
		})
	}
}

// The details of a dead container are not needed to repair the one that replaced it.
func TestAnInspectOfAnOldContainerThatHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		w.kill("web", "main", 1)
		settle()
		k.end()
		w.docker.SetFault(on("InspectContainer", dockertest.Fault{Delay: time.Hour}, "k8s_main.", "_uid-web_1"))
		k = w.run(pod("web", "main"))
		w.kill("web", "main", 1)
		w.after(observe.InspectLimit+5*time.Second, "killed", "web/main", "web/net")
		k.set()
		settle()
		w.docker.SetFault(nil)
		w.after(observe.InspectRetry, "removed, when Docker answers again")
		if containers := w.describe(); containers != "" {
			t.Errorf("the containers that are left:\n%s", containers)
		}
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

// TestManyPodsThatStartTakeFewLists: each end of work is a wakeup, and Docker is slow.
func TestManyPodsThatStartTakeFewLists(t *testing.T) {
	inWorld(t, func(w *world) {
		var starts atomic.Int64
		w.docker.SetFault(func(c dockertest.Call) dockertest.Fault {
			switch c.Method {
			case "ListContainers":
				return dockertest.Fault{Delay: 20 * time.Millisecond}
			case "StartContainer":
				return dockertest.Fault{Delay: time.Duration(starts.Add(1)) * 2 * time.Millisecond}
			}
			return dockertest.Fault{}
		})
		var pods []api.Pod
		for i := range 60 {
			pods = append(pods, pod(fmt.Sprint("p", i), "main"))
		}
		w.run(pods...)
		if n, live := w.docker.Calls()["ListContainers"], len(w.live()); n > 60 || live != 120 {
			t.Errorf("%d lists, want at most one for two of %d starts", n, live)
		}
	})
}

// TestARepairAfterATickIsQuick: no worker is busy, so the wakeup need not wait.
func TestARepairAfterATickIsQuick(t *testing.T) {
	inWorld(t, func(w *world) {
		const list = 100 * time.Millisecond
		w.docker.SetFault(on("ListContainers", dockertest.Fault{Delay: list}))
		w.run(pod("web", "main"))
		for lists := w.docker.Calls()["ListContainers"]; w.docker.Calls()["ListContainers"] == lists; {
			wait(time.Millisecond)
		}
		wait(list) // the tick is over
		w.kill("web", "main", 1)
		w.after(list+time.Millisecond, "after one more list", "web/main", "web/net")
	})
}

// TestAPodThatCannotBeCreatedIsCheap has a second pod that crashes and a third that pulls: neither Docker's events nor
// the ends of pulls shorten the back-off. The problem is reported once, although Docker names another layer each time.
func TestAPodThatCannotBeCreatedIsCheap(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "crashes", ExitCode: 1, After: time.Second}
		}
		var creations atomic.Int64
		w.docker.SetFault(when("CreateContainer", func(dockertest.Call) dockertest.Fault {
			return dockertest.Fault{Before: fmt.Errorf("symlink %064x overlay2/l/%026[1]X: no space left on device", creations.Add(1))}
		}, "k8s_full."))
		k := w.run(pod("web", "full"), pod("other", "crashes"), ofImage(pod("missing", "main"), "missing:1", ""))
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
		if n := len(slices.DeleteFunc(k.kl.Events(0), func(e api.Event) bool { return e.Reason != api.ReasonCannotCreate })); n != 1 {
			t.Errorf("%d events say that it cannot be created, want one", n)
		}
	})
}

// TestTheRootDirIsLost: while the root_dir is missing or another directory is at its path, nothing changes there or in
// Docker.
func TestTheRootDirIsLost(t *testing.T) {
	inWorld(t, func(w *world) {
		k := w.run(pod("web", "main"))
		root := k.kl.opts.Volumes.Path()
		w.must(os.Rename(root, root+".away"))
		for _, replaced := range []bool{false, true} {
			if replaced {
				w.must(os.Mkdir(root, 0o755))
			}
			k.set(pod("web", "main"), pod("new", "main"))
			settle()
			k.healthIs(t, "without its root_dir", "was removed or replaced")
			w.check("without its root_dir", "web/main", "web/net")
		}
		w.must(os.Remove(root)) // which is empty
		w.must(os.Rename(root+".away", root))
		settle()
		k.healthIs(t, "it is back", "")
		w.check("it is back", "new/main", "new/net", "web/main", "web/net")

		w.inTurn(false)
		k.set(withInit(pod("web", "app"), "one", "two"))
		w.after(500*time.Millisecond, "an init container runs", "web/net", "web/one")
		w.must(os.RemoveAll(root + "/pods"))
		w.settle("what the app mounts was lost before its start", "web/app", "web/net")
	})
}

func TestAPortThatAJobGivesUpIsTakenAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = 24 * time.Hour }
		w.program = func(name string) dockertest.Program {
			return dockertest.Program{Exits: name == "job", After: time.Hour}
		}
		job := onFailure(publish(pod("a", "job"), 80))
		k := w.run(job, publish(pod("b", "main"), 80))
		w.check("while the job runs", "a/job", "a/net")
		w.after(time.Hour, "the job is done", "b/main", "b/net")
		k.set(job, publish(pod("b", "main:2"), 80))
		w.settle("a pod that is done wants no port", "b/main:2", "b/net")
	})
}

func TestARemovedPodThatCouldNeverStartDoesNotStartLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = time.Hour }
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Before: errors.New("not now")}))
		k := w.run(pod("web", "main"))
		k.set()
		synctest.Wait()
		w.docker.SetFault(nil)
		w.after(3*time.Hour, "long after its removal")
		if n := len(k.kl.pods); n != 0 {
			t.Errorf("%d pods are remembered, want none", n)
		}
	})
}

func TestVolumesGoAtOnceWithTheirPodOrItsUID(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *Options) { o.SyncFrequency = 24 * time.Hour }
		w.docker.SetFault(on("WatchEvents", dockertest.Fault{Before: errors.New("no events today")}))
		k := w.run(pod("web", "main"), pod("other", "main"))
		k.set(pod("other", "main"))
		settle()
		w.checkVolumes(pod("other"))
		k.set(withUID(pod("other", "main"), "new"))
		settle()
		w.checkVolumes(withUID(pod("other"), "new"))
	})
}

// slowAnswer is a Docker whose next list is taken at once and comes late.
type slowAnswer struct {
	*dockertest.Fake
	late *atomic.Bool
}

func (d slowAnswer) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	list, err := d.Fake.ListContainers(ctx, labels)
	if d.late.Swap(false) {
		time.Sleep(10 * time.Second)
	}
	return list, err
}

// A pod is removed while its worker creates it, and the list for the removal is late.
func TestAVolumeStaysWhileItsWorkerIsAtWork(t *testing.T) {
	for removed := range 8 {
		inWorld(t, func(w *world) {
			docker := slowAnswer{w.docker, &atomic.Bool{}}
			w.options = func(o *Options) { o.SyncFrequency, o.Docker = 24*time.Hour, docker }
			w.importPause()
			w.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: time.Second}))
			// It is not stopped before it has used its volume.
			w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
			k := w.start(pod("web", "main"))
			time.Sleep(time.Duration(removed) * 300 * time.Millisecond) // its network container is created until 1 s, the other until 2 s
			docker.late.Store(true)
			k.set()
			for range 30 {
				wait(500 * time.Millisecond)
				if len(w.live()) == 2 {
					w.checkVolumes(pod("web"))
				}
			}
			w.settle("a minute later")
			w.checkVolumes()
		})
	}
}

// Each action runs in a goroutine of its own, where a panic must not end the program.
func TestAPanicInAnActionEndsThatWorkAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.importPause()
		w.docker.SetFault(when("CreateContainer", func(dockertest.Call) dockertest.Fault { panic("a bug") }, "k8s_main", "_bad."))
		w.run(pod("bad", "main"), pod("web", "main"))
		w.check("while it panics", "bad/net", "web/main", "web/net")
		w.docker.SetFault(nil)
		w.settle("when it does not any more", "bad/main", "bad/net", "web/main", "web/net")
	})
}
