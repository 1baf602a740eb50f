// Package step lets a person decide when each plan is carried out (flag -step). The sync loop
// looks and decides as always. Before it acts on a pod it asks the Stepper, which prints the
// plan, and says no until that person says yes. The loop never waits: it asks again at each sync.
//
//	sync loop ─ Allowed ─▶ Stepper ◀─ Read ─ terminal
package step

import (
	"crypto/rand"
	"io"
	"slices"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/trace"
)

// Wait is why a plan is not carried out yet.
var Wait = plan.Problem{Reason: api.ReasonWaitsForStep, Message: "its plan is carried out when somebody says so in the terminal of the kubelet, or on its page"}

// Plan is the plan that the sync loop has made for a pod.
type Plan struct {
	*status.Pod
	ID    string // another plan has another one
	Pulls bool   // what was carried out last waits for the pull of an image, or that has just ended
}

// Stepper knows which plans wait, and what was said to them. Its methods may be called
// concurrently. A nil Stepper lets every plan be carried out.
type Stepper struct {
	Out  io.Writer
	Wake func() // makes the sync loop ask again
	// Compare returns what is desired of a pod beside what is there, and what was edited.
	Compare func(*status.Pod) (rows []trace.Row, edited []string)

	mu       sync.Mutex // guards all below
	waiting  []*waiting // the one that has waited longest is the first
	all      bool       // no plan waits
	unread   []string   // what Out has not taken yet
	printing bool       // a goroutine writes to Out
}

// waiting is a pod that is not as desired.
type waiting struct {
	pod     string
	id      string // of the plan that waits; empty while one is carried out
	allowed int    // steps of it, from the first on
	ticket  string // of that plan, for a client that has seen it; nobody can guess it

	carriedOut []plan.Action // of the steps that were allowed last
}

// Allowed returns the steps of a plan that may be carried out now; none: it waits. They are allowed once, and again while
// an image of theirs is pulled. It changes nothing.
func (s *Stepper) Allowed(p Plan) [][]plan.Action {
	if s == nil {
		return p.Plan.Steps
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all {
		return p.Plan.Steps
	}
	w := s.find(p.Name)
	if w == nil {
		return nil
	}
	if rest := w.rest(p.Plan.Steps); p.Pulls && w.id == "" && len(rest) > 0 {
		return rest
	}
	if w.id != p.ID {
		return nil
	}
	return p.Plan.Steps[:min(w.allowed, len(p.Plan.Steps))]
}

// Ask lets a plan wait for a person. One that is new is printed.
func (s *Stepper) Ask(p Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waits(p.Name); w.id != p.ID {
		w.id, w.allowed, w.ticket = p.ID, 0, rand.Text()
		s.printPlan(p)
	}
}

// Take records that steps of a plan, which were allowed, are carried out.
func (s *Stepper) Take(p Plan, steps [][]plan.Action) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waits(p.Name)
	if w.id != "" { // else they are what was carried out last
		w.carriedOut = slices.Concat(steps...)
	}
	if w.id = ""; s.all {
		w.carriedOut = nil
	}
}

// Forget ends the wait of a pod that has nothing left to do, and says so.
func (s *Stepper) Forget(p Plan) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.find(p.Name); w != nil {
		s.waiting = slices.DeleteFunc(s.waiting, func(other *waiting) bool { return other == w })
		s.printEmpty(p)
	}
}

// find returns what is known of a pod that is not as desired, or nil. s.mu is locked.
func (s *Stepper) find(pod string) *waiting {
	for _, w := range s.waiting {
		if w.pod == pod {
			return w
		}
	}
	return nil
}

// waits is find that adds a pod that is not known. s.mu is locked.
func (s *Stepper) waits(pod string) *waiting {
	w := s.find(pod)
	if w == nil {
		w = &waiting{pod: pod}
		s.waiting = append(s.waiting, w)
	}
	return w
}

// rest returns the first steps of a plan that have only actions of those that were allowed last.
func (w *waiting) rest(steps [][]plan.Action) [][]plan.Action {
	other := func(a plan.Action) bool {
		return !slices.ContainsFunc(w.carriedOut, func(done plan.Action) bool { return a.Kind == done.Kind && a.Name == done.Name })
	}
	for i, step := range steps {
		if slices.ContainsFunc(step, other) {
			return steps[:i]
		}
	}
	return steps
}

// Waiting is a pod whose plan waits. Another plan has another ticket.
type Waiting struct{ Pod, Ticket string }

// Waiting returns the pods that wait, the one that has waited longest first.
func (s *Stepper) Waiting() (all []Waiting) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if w.id != "" && w.allowed == 0 {
			all = append(all, Waiting{w.pod, w.ticket})
		}
	}
	return all
}

// Allow allows the first steps of a plan that waits, and reports whether it is the one with the ticket.
func (s *Stepper) Allow(this Waiting, steps int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		if w.pod == this.Pod && w.ticket == this.Ticket && w.id != "" && w.allowed == 0 {
			w.allowed = steps
			s.Wake()
			return true
		}
	}
	return false
}
