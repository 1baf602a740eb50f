// Package status says how a pod is: in one word, in the fields of api.PodStatus, and why it is
// not as desired. It is pure: all it knows is what a sync saw, and what goes on now.
//
//	what a sync saw (Pod) ──┬─▶ Of ─▶ api.PodStatus
//	what goes on (Now) ─────┘
package status

import (
	"fmt"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// Pod is what a sync saw of a pod. A published one never changes.
type Pod struct {
	Name         string          // full name
	Origin       string          // where its manifest was read
	Desired      *plan.Pod       // nil: its containers are to be removed
	Observed     []plan.Observed // its containers, ordered by name and attempt
	Plan         plan.Plan
	Err          error          // why the containers or the plan are not known
	Wait         plan.Problem   // why it must wait; no message: it need not
	WorkProblems []plan.Problem // of the last work
	Worked       *plan.Pod      // what that work was for
	Failures     int            // pieces of work that failed in a row
}

// Label names the pod with the place that has to be edited.
func (p *Pod) Label() string { return fmt.Sprintf("pod %s (%s)", p.Name, p.Origin) }

// Waits reports whether the pod keeps its containers although other ones are desired.
func (p *Pod) Waits() bool { return p.Wait.Message != "" }

// isStopped reports whether a person wants the pod stopped.
func (p *Pod) isStopped() bool { return p.Desired != nil && p.Desired.Stopped != "" }

// IsLive reports whether a container of the pod runs.
func (p *Pod) IsLive() bool {
	return slices.ContainsFunc(p.Observed, func(c plan.Observed) bool { return c.State.Live() })
}

// Problems returns why the pod is not as desired, those of the last work first. A problem of work expires when the
// manifest changes, its step is gone, or a problem of the plan extends it.
func (p *Pod) Problems() []plan.Problem {
	switch {
	case p.Err != nil:
		return []plan.Problem{{Reason: api.ReasonDocker, Message: p.Err.Error()}}
	case p.Waits():
		return []plan.Problem{p.Wait}
	}
	unfinished := map[string]bool{}
	for _, a := range p.Plan.Actions() {
		unfinished[a.Name.Name] = true
	}
	expired := func(problem plan.Problem) bool {
		return p.Worked != p.Desired || !unfinished[problem.Container] || slices.ContainsFunc(p.Plan.Problems, func(next plan.Problem) bool {
			return next.Container == problem.Container && strings.HasPrefix(next.Message, problem.Message)
		})
	}
	return append(slices.DeleteFunc(slices.Clone(p.WorkProblems), expired), p.Plan.Problems...)
}

// Faults returns the problems without those of containers that run on, although not as desired.
func (p *Pod) Faults() []plan.Problem {
	return slices.DeleteFunc(p.Problems(), func(p plan.Problem) bool { return p.Reason == api.ReasonNeverRestarted })
}

// Join returns problems as one line.
func Join(problems []plan.Problem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return strings.Join(texts, "; ")
}
