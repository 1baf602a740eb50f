package kubelet

import (
	"slices"
	"sync"
	"time"

	"kubelet14/api"
)

const maxEvents = 1000 // the number of events that are kept

// events holds the last events. Its methods may be called concurrently.
type events struct {
	mu   sync.Mutex
	last []api.Event // guarded by mu; oldest first; up to 2*maxEvents, so that dropping old ones is rare
	seq  uint64      // guarded by mu; of the newest
}

// add records an event.
func (e *events) add(podFullName, container, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	if len(e.last) == 2*maxEvents {
		e.last = slices.Delete(e.last, 0, maxEvents)
	}
	e.last = append(e.last, api.Event{Seq: e.seq, Time: time.Now(), Pod: podFullName, Container: container, Reason: reason, Message: message})
}

// Note records an event of the node as a whole.
func (kl *Kubelet) Note(reason, message string) { kl.events.add("", "", reason, message) }

// after returns the events newer than seq, oldest first.
func (e *events) after(seq uint64) []api.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(e.seq-min(seq, e.seq), maxEvents, uint64(len(e.last)))
	return slices.Clone(e.last[len(e.last)-int(n):])
}
