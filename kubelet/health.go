package kubelet

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	errNoSyncYet   = errors.New("the kubelet has not looked at Docker yet")
	errNoEventsYet = errors.New("no events from Docker yet")
)

// healthState is what /healthz reports.
type healthState struct {
	mu     sync.Mutex // guards the rest, see locked
	busy   time.Time  // when the sync loop began to look at Docker; zero: it is waiting
	docker error      // from the last list, which also needs the root_dir
	events error      // why no events come from Docker
}

func (h *healthState) locked(do func(*healthState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do(h)
}

// Health returns why the kubelet cannot look after its pods, or nil. It does not call Docker.
func (kl *Kubelet) Health() error {
	err := kl.dockerError()
	kl.health.locked(func(h *healthState) { err = cmp.Or(err, h.events) })
	return err
}

// dockerError returns why the last snapshot cannot be trusted, or nil.
func (kl *Kubelet) dockerError() (err error) {
	kl.health.locked(func(h *healthState) {
		if err = h.docker; err == nil && !h.busy.IsZero() && time.Since(h.busy) > answerLimit {
			err = fmt.Errorf("the sync loop has waited for Docker since %s; `journalctl -u docker` may say why", h.busy.Format(time.TimeOnly))
		}
	})
	return err
}
