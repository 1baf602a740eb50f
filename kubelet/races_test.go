package kubelet

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// A start that fails leaves its reason where an inspect of before does not show it.
func TestAFailedStartIsSeen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{Missing: name == "main"} }
		refused := dockertest.Fault{Before: errors.New("not now")} // so it is inspected as created
		w.docker.SetFault(on("StartContainer", refused, "k8s_main"))
		w.start(pod("web", "main"))
		wait(time.Millisecond)
		w.docker.SetFault(nil)
		settle()
		if w.newest("main") < 2 {
			t.Errorf("there is no second attempt\n%s", w.describe())
		}
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
		wait(time.Hour)
		w.check("the job is done", "b/main", "b/net")
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
		wait(3 * time.Hour)
		w.check("long after its removal")
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

// A pod is removed while its worker makes it, and the list that the removal looks
// at does not show its containers yet.
func TestAVolumeStaysWhileItsWorkerIsAtWork(t *testing.T) {
	inWorld(t, func(w *world) {
		docker := slowAnswer{w.docker, &atomic.Bool{}}
		w.options = func(o *Options) { o.SyncFrequency, o.Docker = 24*time.Hour, docker }
		w.docker.SetFault(on("CreateContainer", dockertest.Fault{Delay: time.Second}))
		// It is not stopped before it has used its volume.
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		k := w.start(pod("web", "main"))
		time.Sleep(1500 * time.Millisecond) // the app container is being created
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

// Each action has a goroutine of its own, and a panic there must not end the program.
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
