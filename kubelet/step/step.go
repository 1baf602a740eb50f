// Package step lets a person decide when each plan is carried out (flag -step). The sync loop
// looks and decides as always. Before it acts on a pod it asks the Stepper, which prints the
// plan, and says no until that person says yes. The loop never waits: it asks again at each sync.
//
//	sync loop ─ Take ─▶ Stepper ◀─ Read ─ terminal
package step

import (
	"crypto/rand"
	"io"
	"slices"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
)

// Wait is why a plan is not carried out yet.
var Wait = plan.Problem{Reason: api.ReasonWaitsForStep, Message: "its plan is carried out when somebody says so in the terminal of the kubelet, or on its page"}

// Pod is a pod with the plan that the sync loop has made for it.
type Pod struct {
	Name, Origin string // full name, and the place of its manifest
	Plan         plan.Plan
	ID           string                         // another plan has another one
	Compare      func() ([]trace.Row, []string) // see Versions
}

// Stepper knows which plans wait, and what was said to them. Its methods may be called
// concurrently. A nil Stepper lets every plan be carried out.
type Stepper struct {
	Out  io.Writer
	Wake func() // makes the sync loop ask again

	mu      sync.Mutex
	waiting []*waiting // guarded by mu; the one that has waited longest is the first
	all     bool       // guarded by mu: no plan waits
}

// waiting is a pod that is not as desired.
type waiting struct {
	pod     string
	id      string // of the plan that waits; empty while one is carried out
	allowed int    // steps of it, from the first on
	ticket  string // of that plan, for a client that has seen it; nobody can guess it
}

// Take returns the steps of a pod's plan that may be carried out now; none: it waits. They are
// allowed once. A plan that is new is printed. A plan without steps ends the wait of its pod.
func (s *Stepper) Take(p Pod) [][]plan.Action {
	if s == nil {
		return p.Plan.Steps
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(w *waiting) bool { return w.pod == p.Name })
	if len(p.Plan.Steps) == 0 {
		if i >= 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			s.printEmpty(p)
		}
		return nil
	}
	if i < 0 {
		i = len(s.waiting)
		s.waiting = append(s.waiting, &waiting{pod: p.Name})
	}
	w := s.waiting[i]
	if s.all {
		w.id = ""
		return p.Plan.Steps
	}
	if w.id != p.ID {
		w.id, w.allowed, w.ticket = p.ID, 0, rand.Text()
		s.print(p)
	}
	steps := p.Plan.Steps[:min(w.allowed, len(p.Plan.Steps))]
	if len(steps) > 0 {
		w.id = ""
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
