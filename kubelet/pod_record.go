package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// podSnapshot is what a sync saw of a pod. A copy of it in a snapshot is never changed.
type podSnapshot struct {
	name         string    // full name
	origin       string    // where its manifest was read
	pod          *plan.Pod // nil: remove its containers
	containers   []plan.Observed
	plan         plan.Plan
	err          error          // why the containers or the plan are not known
	wait         plan.Problem   // why it must wait; no message: it need not
	workProblems []plan.Problem // of the last work
	worked       *plan.Pod      // what that work was for
	failures     int            // pieces of work that failed in a row
}

// podRecord is what the sync loop knows of a pod. It can be lost at any time: what matters
// is in Docker. Only the sync loop uses it.
type podRecord struct {
	podSnapshot
	work    *work // nil: none since the last endWork
	version int   // of pod: how often the desired state has changed
	adopted bool  // this run has found that its containers belong to its manifest, see hold
	leaving bool  // its removal has begun, and cannot be called off

	tried   string    // the plan of the last work, and the pulls that had ended then
	retryAt time.Time // not to try the same steps before

	stateLogged    string            // since the last action or problem
	loggedProblems map[string]string // message by container
}

// label names the pod with the place that has to be edited.
func (p *podSnapshot) label() string { return fmt.Sprintf("pod %s (%s)", p.name, p.origin) }

// desire sets the desired state.
func (p *podRecord) desire(pod *plan.Pod) {
	if pod != p.pod {
		p.pod, p.version = pod, p.version+1
	}
}

// planID returns a text that is another one for another plan, and for the same plan of another desired state.
func (p *podRecord) planID() string {
	text := fmt.Sprint(p.version)
	for _, a := range slices.Concat(p.plan.Steps...) {
		text += fmt.Sprintf(" %s %s %s", a.Kind, a.Name, a.ID)
	}
	return text
}

// pulls reports whether the last work, which was for the same desired state, is waiting for the pull of an image.
func (p *podRecord) pulls() bool {
	return p.worked == p.pod && slices.ContainsFunc(p.workProblems, func(p plan.Problem) bool { return p.Reason == api.ReasonPulling })
}

// endWork evaluates work that has ended. After a failure the same steps are tried again
// after 250 ms, doubling up to limit. What only waits has its own time, or waits for the end
// of a pull.
func (p *podRecord) endWork(limit time.Duration) {
	if p.work == nil {
		return
	}
	p.workProblems = slices.SortedFunc(maps.Values(p.work.problems), func(a, b plan.Problem) int { return strings.Compare(a.Container, b.Container) })
	p.worked, p.work = p.work.pod, nil
	switch {
	case len(p.workProblems) == 0:
		p.failures, p.tried = 0, ""
	case slices.ContainsFunc(p.workProblems, isFailure):
		p.retryAt = time.Now().Add(min(250*time.Millisecond<<min(p.failures, 10), limit))
		p.failures++
	default:
		p.retryAt = time.Now().Add(limit)
	}
	for _, problem := range p.workProblems {
		p.retryAt = earliest(p.retryAt, problem.RetryAt)
	}
}

// waits reports whether the pod keeps its containers although other ones are desired.
func (p *podSnapshot) waits() bool { return p.wait.Message != "" }

// problems returns why the pod is not as desired. Those of the last work come first. One of them is
// over when the manifest was edited, or the plan has no step for its container, or a problem that says more.
func (p *podSnapshot) problems() []plan.Problem {
	switch {
	case p.err != nil:
		return []plan.Problem{{Reason: api.ReasonDocker, Message: p.err.Error()}}
	case p.waits():
		return []plan.Problem{p.wait}
	}
	unfinished := map[string]bool{}
	for _, a := range slices.Concat(p.plan.Steps...) {
		unfinished[a.Name.Name] = true
	}
	over := func(problem plan.Problem) bool {
		return p.worked != p.pod || !unfinished[problem.Container] || slices.ContainsFunc(p.plan.Problems, func(next plan.Problem) bool {
			return next.Container == problem.Container && strings.HasPrefix(next.Message, problem.Message)
		})
	}
	return append(slices.DeleteFunc(slices.Clone(p.workProblems), over), p.plan.Problems...)
}

// faults returns the problems without those of containers that run on, although not as desired.
func (p *podSnapshot) faults() []plan.Problem {
	return slices.DeleteFunc(p.problems(), func(p plan.Problem) bool { return p.Reason == api.ReasonNeverRestarted })
}

// logState logs the state of a pod that needs no action, once after the last action or problem, and once more when it is ready.
func (kl *Kubelet) logState(p *podRecord) {
	const notReady = "is up, not ready yet"
	logged := p.stateLogged != "" && p.stateLogged != notReady
	if logged || p.work != nil || p.err != nil || p.waits() || len(p.plan.Steps)+len(p.plan.Problems) > 0 {
		return
	}
	status := kl.view(&p.podSnapshot).status()
	state := map[api.PodPhase]string{api.PodRunning: "is up", api.PodSucceeded: "has done its work"}[status.Phase]
	if status.Phase == api.PodRunning && !status.Ready {
		state = notReady
	}
	if state != "" && state != p.stateLogged {
		glog.Infof("pod %s %s", p.name, state)
	}
	p.stateLogged = state
}
