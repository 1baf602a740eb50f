package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"kubelet14/kubelet/dockertools"
)

// vitals are the signs of life of a kubelet. Its methods may be called by any
// number of goroutines.
type vitals struct {
	mu      sync.Mutex
	turned  time.Time        // when the sync loop was last seen to wait for something to do
	docker  error            // why the last sync could not look at Docker
	events  error            // why Docker's events do not stand; nil: they come, so what has changed is known
	changed dockertools.Mark // the moment of the last change that is known
}

var errNotBegun = errors.New("the kubelet has not looked at Docker yet")

func newVitals() *vitals {
	return &vitals{turned: time.Now(), docker: errNotBegun, events: errors.New("the events of Docker do not come yet")}
}

// turn notes that the sync loop is at its beginning.
func (v *vitals) turn() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turned = time.Now()
}

// sawDocker notes how a look at Docker went.
func (v *vitals) sawDocker(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.docker = err
}

// setEvents notes that Docker's events stand, or why they do not.
func (v *vitals) setEvents(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = err
}

// change notes that something on Docker is, or may be, another than before.
func (v *vitals) change(at dockertools.Mark) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changed = max(v.changed, at)
}

// lastChange is the moment since which nothing has changed on Docker as far as its
// events tell. Without them nothing is known: ok is false.
func (v *vitals) lastChange() (since dockertools.Mark, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed, v.events == nil
}

// Health returns why the kubelet cannot look after its pods: Docker does not answer,
// or the sync loop has not turned for two periods; nil when it can. It asks nobody,
// and may be called at any time by any goroutine.
func (kl *Kubelet) Health() error {
	v := kl.vitals
	v.mu.Lock()
	defer v.mu.Unlock()
	switch since := time.Since(v.turned); {
	case v.docker != nil:
		return v.docker
	case v.events != nil:
		return v.events
	case since > 2*kl.opts.SyncFrequency:
		return fmt.Errorf("the sync loop has not turned for %v, and should each %v", since.Round(time.Second), kl.opts.SyncFrequency)
	}
	return nil
}

// list returns this kubelet's containers for whoever only wants to know. While
// Docker's events come, a list begun after the last of them is as good as a new one.
func (kl *Kubelet) list(ctx context.Context) ([]dockertools.Owned, error) {
	since, known := kl.vitals.lastChange()
	if !known {
		since = kl.lister.Mark()
	}
	return kl.lister.List(ctx, since)
}
