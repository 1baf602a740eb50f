package kubelet

import (
	"context"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// hints gathers what Docker's events are about until the sync loop has time for
// it. A thousand events of one pod are one hint.
type hints struct {
	ready chan struct{} // 1-slot: there is something to take

	mu   sync.Mutex
	pods map[string]bool // full names
	all  bool            // look at every pod
}

func newHints() *hints {
	return &hints{ready: make(chan struct{}, 1), pods: map[string]bool{}}
}

// add asks for a look at one pod, or at all when the name is empty. It never
// waits.
func (h *hints) add(podFullName string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if podFullName == "" {
		h.all = true
	} else {
		h.pods[podFullName] = true
	}
	select {
	case h.ready <- struct{}{}:
	default:
	}
}

// take empties the hints.
func (h *hints) take() (pods map[string]bool, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pods, all = h.pods, h.all
	h.pods, h.all = map[string]bool{}, false
	return pods, all
}

// forgetLogDriver is for a Docker that may have been started anew.
func (kl *Kubelet) forgetLogDriver() {
	kl.logDriver.Lock()
	defer kl.logDriver.Unlock()
	kl.logDriver.name = ""
}

// watchEvents turns Docker's events into hints until ctx is done. When the stream
// breaks, as at a restart of Docker, it is opened again, and what was missed
// meanwhile is made up for by a look at everything.
func (kl *Kubelet) watchEvents(ctx context.Context) {
	lost := false
	for {
		err := kl.docker.WatchEvents(ctx, kl.opts.Identity.Halves(), func(e dockertools.Event) {
			if e.OutOfMemory {
				kl.lister.RanOutOfMemory(e.ID)
			}
			kl.lister.Forget(e.ID)
			kl.vitals.change(kl.lister.Mark())
			if e.ID == "" {
				if lost {
					glog.Infof("Docker answers again")
				}
				lost = false
				kl.vitals.setEvents(nil)
				kl.forgetLogDriver()
				kl.hints.add("")
			} else if parts, ok := dockertools.ParseContainerName(e.Name); ok {
				kl.hints.add(parts.PodFullName)
			}
		})
		if ctx.Err() != nil {
			return
		}
		kl.vitals.setEvents(err)
		if !lost {
			glog.Warningf("Docker's events have stopped; asking again every second: %v", err)
		}
		lost = true
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
	}
}
