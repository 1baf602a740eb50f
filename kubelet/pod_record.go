package kubelet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/api/backoff"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/step"
)

// work is one plan that the pod's worker carries out.
type work struct {
	podFullName string
	pod         *plan.Pod               // as desired when the work began; nil: it is being removed
	todo        plan.Plan               // with the steps that are allowed
	changed     context.Context         // done when the desired state has changed
	supersede   func()                  // makes it so
	problems    map[string]plan.Problem // by container name; written by the worker, and read after its end
}

// podRecord is what the sync loop knows about a pod. It may be lost at any time: what matters is in
// Docker. Only the sync loop uses it.
type podRecord struct {
	status.Pod
	work    *work           // nil: none since the last endWork
	allowed [][]plan.Action // the steps that may be carried out now: all, unless a person decides
	edits   int             // how often the desired state has changed
	adopted bool            // its containers are known to belong to its manifest, see holdForSource
	leaving bool            // its removal has begun: a source that is not ready no longer holds it

	tried   string    // the tryID of the last work
	retryAt time.Time // the same try is not made before
}

// desire sets the desired state.
func (p *podRecord) desire(pod *plan.Pod) {
	if pod != p.Desired {
		p.Desired, p.edits = pod, p.edits+1
	}
}

// planID returns a text that identifies the plan and the desired state that it is for.
func (p *podRecord) planID() string {
	text := fmt.Sprint(p.edits)
	for _, a := range p.Plan.Actions() {
		text += fmt.Sprintf(" %s %s %s", a.Kind, a.Name, a.ID)
	}
	return text
}

// forStep returns the plan for a person to decide about.
func (p *podRecord) forStep() step.Plan {
	pulls := p.Worked == p.Desired && slices.ContainsFunc(p.WorkProblems, func(p plan.Problem) bool { return p.Reason == api.ReasonPulling })
	return step.Plan{Pod: &p.Pod, ID: p.planID(), Pulls: pulls}
}

// asks reports whether a person has to allow the plan.
func (p *podRecord) asks() bool { return p.Wait == step.Wait }

// held reports whether the containers of the pod stay as they are.
func (p *podRecord) held() bool { return p.Err != nil || p.Waits() && !p.asks() }

// remember records what later holds depend on.
func (p *podRecord) remember() {
	p.leaving = p.Desired == nil && len(p.Observed) > 0 && (!p.Waits() || p.asks())
	p.adopted = p.adopted || p.Desired != nil && p.Err == nil && p.Wait.Reason != api.ReasonSourceNotReady
}

// endWork evaluates work that has ended. After a failure the same steps are tried again after 250 ms,
// doubling up to limit. A wait has a time of its own, or ends with a pull.
func (p *podRecord) endWork(limit time.Duration) {
	if p.work == nil {
		return
	}
	p.WorkProblems = slices.SortedFunc(maps.Values(p.work.problems), func(a, b plan.Problem) int { return strings.Compare(a.Container, b.Container) })
	p.Worked, p.work = p.work.pod, nil
	switch {
	case len(p.WorkProblems) == 0:
		p.Failures, p.tried = 0, ""
	case slices.ContainsFunc(p.WorkProblems, plan.Problem.IsFailure):
		p.Failures++
		p.retryAt = time.Now().Add(backoff.Wait(p.Failures, 250*time.Millisecond, limit))
	default:
		p.retryAt = time.Now().Add(limit)
	}
	for _, problem := range p.WorkProblems {
		p.retryAt = plan.Earliest(p.retryAt, problem.RetryAt)
	}
}
