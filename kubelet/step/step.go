// Package step lets a person decide when each plan is carried out (flag -step). The sync loop looks
// and decides as usual. Before it acts on a pod it asks the Stepper, which shows the plan and refuses
// until the person allows it. The loop never waits: it asks again at each sync.
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

// Plan is a plan that the sync loop made for a pod.
type Plan struct {
	*status.Pod
	ID    string // identifies the plan
	Pulls bool   // the last work waited for the pull of an image
}

// Stepper knows which plans wait and what is allowed. Its methods may be called concurrently. A nil
// Stepper allows every plan.
type Stepper struct {
	Out         io.Writer
	DockerFlags []string // of the docker command in Breaks
	Wake        func()   // makes the sync loop ask again
	// Compare returns the desired state of a pod beside the observed one, and what was edited.
	Compare func(*status.Pod) (rows []trace.Row, edited []string)

	mu       sync.Mutex // guards all below
	waiting  []*waiting // the longest wait first
	all      bool       // no plan waits
	unread   []string   // what Out has not taken yet
	printing bool       // a goroutine writes to Out
}

// waiting is a pod that is not as desired.
type waiting struct {
	pod     string
	id      string // of the plan that waits; empty while one is carried out
	allowed int    // steps of it, from the first on
	ticket  string // of that plan, for clients that have seen it; it cannot be guessed

	carriedOut []plan.Action // of the steps that were allowed last
}

// Allowed returns the steps of a plan that may be carried out now; if there are none, the plan waits. Steps are allowed
// once, and again while one of their images is pulled. Allowed changes nothing.
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

// Ask lets a plan wait for a person, and prints it if it is new.
func (s *Stepper) Ask(p Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wait(p.Name); w.id != p.ID {
		w.id, w.allowed, w.ticket = p.ID, 0, rand.Text()
		s.printPlan(p)
	}
}

// Take records that allowed steps of a pod's plan are being carried out.
func (s *Stepper) Take(podFullName string, steps [][]plan.Action) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wait(podFullName)
	if w.id != "" { // otherwise they were taken before
		w.carriedOut = slices.Concat(steps...)
	}
	if w.id = ""; s.all {
		w.carriedOut = nil
	}
}

// Forget ends the wait of a pod that has nothing left to do, and says so.
func (s *Stepper) Forget(p *status.Pod) {
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

// find returns the wait of a pod, or nil. s.mu is locked.
func (s *Stepper) find(pod string) *waiting {
	for _, w := range s.waiting {
		if w.pod == pod {
			return w
		}
	}
	return nil
}

// wait returns the wait of a pod, a new one if there is none. s.mu is locked.
func (s *Stepper) wait(pod string) *waiting {
	w := s.find(pod)
	if w == nil {
		w = &waiting{pod: pod}
		s.waiting = append(s.waiting, w)
	}
	return w
}

// rest returns the first steps of a plan whose actions were all allowed last time.
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
	return s.waits()
}

// waits is Waiting while s.mu is locked.
func (s *Stepper) waits() (all []Waiting) {
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
