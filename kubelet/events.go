package kubelet

import (
	"fmt"
	"slices"
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
	last []api.Event   // the oldest first; only the end of it counts, maxEvents long
	seq  uint64        // of the newest
	more chan struct{} // closed at the next event; nil while nobody waits for it
}

// add remembers an event and logs it at V(2).
func (e *events) add(podFullName, container, reason, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	of := podFullName
	if container != "" {
		of += fmt.Sprintf(": container %q", container)
	}
	glog.V(2).Infof("pod %s: %s: %s", of, reason, message)
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
	if len(e.last) == 2*maxEvents { // seldom, so that an event costs little
		e.last = slices.Delete(e.last, 0, maxEvents)
	}
	e.last = append(e.last, api.Event{Seq: e.seq, Time: time.Now(), Pod: podFullName, Container: container, Reason: reason, Message: message})
}

// after gives the events that are remembered and newer than seq, the oldest first,
// and a channel that is closed when there is another.
func (e *events) after(seq uint64) (newer []api.Event, more <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.more == nil {
		e.more = make(chan struct{})
	}
	n := min(e.seq-min(seq, e.seq), maxEvents)
	return slices.Clone(e.last[len(e.last)-int(n):]), e.more
}
