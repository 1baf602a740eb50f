package kubelet

import (
	"fmt"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// maxEvents is how many events are remembered.
const maxEvents = 1000

// events is the memory of the last things that the kubelet did to pods, or saw.
// Its methods may be called by any number of goroutines.
type events struct {
	mu   sync.Mutex
	ring []api.Event // once it is full, the oldest is at next
	next int
	seq  uint64        // of the newest
	more chan struct{} // closed at the next event; nil while nobody waits for it
}

// add remembers an event and logs it at V(2).
func (e *events) add(podFullName, container, reason, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	glog.V(2).Infof("pod %s: container %q: %s: %s", podFullName, container, reason, message)
	e.remember(podFullName, container, reason, message)
}

// remember is add for what is in the log already.
func (e *events) remember(podFullName, container, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
	e.seq++
	event := api.Event{Seq: e.seq, Time: time.Now(), Pod: podFullName, Container: container, Reason: reason, Message: message}
	if len(e.ring) < maxEvents {
		e.ring = append(e.ring, event)
		return
	}
	e.ring[e.next] = event
	e.next = (e.next + 1) % maxEvents
}

// after gives the events that are remembered and newer than seq, the oldest first,
// and a channel that is closed when there is another.
func (e *events) after(seq uint64) (newer []api.Event, more <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.more == nil {
		e.more = make(chan struct{})
	}
	all := append(append([]api.Event{}, e.ring[e.next:]...), e.ring[:e.next]...)
	known := len(all) - int(min(e.seq-min(seq, e.seq), uint64(len(all))))
	return all[known:], e.more
}
