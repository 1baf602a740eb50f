package kubelet

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

var errNotBegun = errors.New("the kubelet has not looked at Docker yet")

// healthState is what /healthz goes by.
type healthState struct {
	mu     sync.Mutex
	turned time.Time // when the sync loop was last seen to wait for something to do
	docker error     // why the last sync could not look at Docker
	events error     // why Docker's events do not come
}

func (h *healthState) turn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turned = time.Now()
}

func (h *healthState) sawDocker(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.docker = err
}

func (h *healthState) setEvents(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = err
}

// Health returns why the kubelet cannot look after its pods, nil when it can.
func (kl *Kubelet) Health() error {
	h := &kl.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch since := time.Since(h.turned); {
	case h.docker != nil:
		return h.docker
	case h.events != nil:
		return h.events
	case since > 2*kl.opts.SyncFrequency:
		return fmt.Errorf("the sync loop has not turned for %v, and should each %v", since.Round(time.Second), kl.opts.SyncFrequency)
	}
	return nil
}

func (h *healthState) dockerError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.docker
}
