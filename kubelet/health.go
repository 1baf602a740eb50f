package kubelet

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	errNoSyncYet   = errors.New("the kubelet has not looked at Docker yet")
	errNoEventsYet = errors.New("no events from Docker yet")
)

// listPatience is how long a list may take before Docker counts as not answering.
const listPatience = 10 * time.Second

// healthState is what /healthz reports.
type healthState struct {
	mu        sync.Mutex // guards the rest, see set
	heartbeat time.Time  // when the sync loop last waited for something to do
	listing   time.Time  // since when Docker is asked for a list; zero: it is not
	docker    error      // of the last list, which also needs the root_dir
	events    error      // why Docker's events do not come
}

func (h *healthState) set(change func(*healthState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// Health returns why the kubelet cannot look after its pods, or nil if it can. It does not
// call Docker.
func (kl *Kubelet) Health() (err error) {
	kl.health.set(func(h *healthState) {
		switch {
		case h.docker != nil:
			err = h.docker
		case h.events != nil:
			err = h.events
		case time.Since(h.heartbeat) > 2*kl.opts.SyncFrequency:
			err = fmt.Errorf("the sync loop has been busy since %s, and should run every %v", h.heartbeat.Format(time.TimeOnly), kl.opts.SyncFrequency)
		}
	})
	return err
}

// dockerError returns why what the last sync saw is not to be trusted, or nil.
func (kl *Kubelet) dockerError() (err error) {
	kl.health.set(func(h *healthState) {
		if err = h.docker; err == nil && !h.listing.IsZero() && time.Since(h.listing) > listPatience {
			err = fmt.Errorf("no answer from Docker since %s", h.listing.Format(time.TimeOnly))
		}
	})
	return err
}
