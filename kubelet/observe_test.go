package kubelet

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
)

// reports is what a kubelet tells of its work, by how it came out.
type reports struct {
	mu   sync.Mutex
	took map[bool][]time.Duration
}

func (r *reports) done(took time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.took == nil {
		r.took = map[bool][]time.Duration{}
	}
	r.took[ok] = append(r.took[ok], took)
}

func (r *reports) count() (ok, failed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.took[true]), len(r.took[false])
}

// watchWork makes the next kubelet tell of its work and its pulls.
func (w *world) watchWork() (syncs, pulls *reports) {
	syncs, pulls = &reports{}, &reports{}
	w.options = func(o *Options) { o.SyncDone, o.PullDone = syncs.done, pulls.done }
	return syncs, pulls
}

func TestWorkThatSucceedsIsToldWithItsTime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.SetFault(always("StartContainer", dockertest.Fault{Delay: 3 * time.Second}))
		syncs, _ := w.watchWork()
		w.start(pod("web", "main"))
		settle()
		if ok, failed := syncs.count(); ok == 0 || failed > 0 {
			t.Errorf("a pod that came up: %d ok, %d failed", ok, failed)
		}
		// The network container and then the other.
		if longest := slices.Max(syncs.took[true]); longest != 6*time.Second {
			t.Errorf("the longest piece of work took %v, want two starts of 3s", longest)
		}
	})
}

func TestWorkThatFailsIsToldAsSuch(t *testing.T) {
	for name, fault := range map[string]func(dockertest.Call) dockertest.Fault{
		"a pod that cannot be created": always("CreateContainer", dockertest.Fault{Before: errors.New("the disk is full")}),
	} {
		inWorld(t, func(w *world) {
			w.docker.SetFault(fault)
			syncs, _ := w.watchWork()
			w.start(pod("web", "main"))
			settle()
			if ok, failed := syncs.count(); ok > 0 || failed == 0 {
				w.t.Errorf("%s: %d ok, %d failed", name, ok, failed)
			}
		})
	}
}

func TestToWaitIsNoFailure(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: time.Hour})
		syncs, _ := w.watchWork()
		w.start(ofImage(pod("slow", "main"), "big:1", ""), publish(pod("a", "main"), 80), publish(pod("b", "main"), 80))
		settle()
		w.check("one waits for its image and one for a port", "a/main", "a/net", "slow/net")
		if ok, failed := syncs.count(); ok == 0 || failed > 0 {
			t.Errorf("pods that wait: %d ok, %d failed", ok, failed)
		}
	})
}

func TestPullsAreToldWithTheirTime(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: 40 * time.Second})
		_, pulls := w.watchWork()
		w.start(ofImage(pod("good", "main"), "big:1", api.PullIfNotPresent), ofImage(pod("bad", "main"), "nosuch:1", ""))
		settle()
		if took := pulls.took[true]; !slices.Equal(took, []time.Duration{40 * time.Second}) {
			t.Errorf("pulls that succeeded took %v, want one of 40s", took)
		}
		if _, failed := pulls.count(); failed == 0 {
			t.Error("a pull of an image that is not there was not told of")
		}
	})
}

func TestWhatTheEndCutsShortIsNotTold(t *testing.T) {
	inWorld(t, func(w *world) {
		w.docker.AddRemoteImage("big:1", dockertest.RemoteImage{Takes: time.Hour})
		w.docker.SetFault(always("StartContainer", dockertest.Fault{Delay: time.Hour}))
		syncs, pulls := w.watchWork()
		k := w.start(pod("web", "main"), ofImage(pod("slow", "main"), "big:1", ""))
		settle()
		k.end()
		for what, r := range map[string]*reports{"work": syncs, "pulls": pulls} {
			if ok, failed := r.count(); ok+failed > 0 {
				t.Errorf("%s: %d ok, %d failed; none of it came to its end", what, ok, failed)
			}
		}
	})
}
