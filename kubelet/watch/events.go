package watch

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

const maxEvents = 1000 // the number of events that are kept

// Events holds the last events. Its methods may be called concurrently.
type Events struct {
	nothing

	mu   sync.Mutex
	last []api.Event // guarded by mu; oldest first; up to 2*maxEvents, so that dropping old ones is rare
	seq  uint64      // guarded by mu; of the newest
}

// Add records an event.
func (e *Events) Add(podFullName, container, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	if len(e.last) == 2*maxEvents {
		e.last = slices.Delete(e.last, 0, maxEvents)
	}
	e.last = append(e.last, api.Event{Seq: e.seq, Time: time.Now(), Pod: podFullName, Container: container, Reason: reason, Message: message})
}

// Changed, Problem, Did, Told and Warned record what happened to a pod or its container.
func (e *Events) Changed(pod *status.Pod, change Change, op api.PodOperation) {
	e.Add(pod.Name, "", op.String(), change.String())
}

func (e *Events) Problem(pod *status.Pod, problem plan.Problem) {
	e.Add(pod.Name, problem.Container, problem.Reason, problem.Message)
}

func (e *Events) Did(a plan.Action) {
	e.Add(a.Name.PodFullName, a.Name.Name, done(a.Kind), fmt.Sprintf("attempt %d: %s", a.Name.Attempt, a.Reason))
}

func (e *Events) Told(a plan.Action, event, message string) {
	e.Add(a.Name.PodFullName, a.Name.Name, event, message)
}

func (e *Events) Warned(a plan.Action, event, message string) { e.Told(a, event, message) }

// After returns the events newer than seq, oldest first.
func (e *Events) After(seq uint64) []api.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(e.seq-min(seq, e.seq), maxEvents, uint64(len(e.last)))
	return slices.Clone(e.last[len(e.last)-int(n):])
}
