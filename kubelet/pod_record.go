package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// podRecord is what the sync loop knows of a pod. It can be lost at any time: what matters
// is in Docker. Only the sync loop uses it.
type podRecord struct {
	name   string // full name
	origin string // where its manifest was read
	events *events

	// As of the last sync:
	pod        *plan.Pod // nil: remove its containers
	containers []plan.Observed
	plan       plan.Plan
	err        error        // why the containers or the plan are not known
	conflict   plan.Problem // why it must wait; no message: it need not

	work     *work          // nil: none since the last endWork
	failed   []plan.Problem // of the last work
	failures int            // pieces of work that failed in a row
	tried    string         // the steps of the last work, see describeSteps
	retryAt  time.Time      // not to try the same steps before

	loggedState    string
	loggedProblems map[string]string // message by container
}

// label names the pod in the log.
func (p *podRecord) label() string { return fmt.Sprintf("pod %s (%s)", p.name, p.origin) }

// endWork evaluates work that has ended. After a failure the same steps are tried again
// after 250 ms, doubling up to limit. Steps that wait have their own time, or wait for the
// end of a pull.
func (p *podRecord) endWork(limit time.Duration) {
	if p.work == nil {
		return
	}
	problems, acted := p.work.result()
	p.work = nil
	p.failed = problems
	if acted {
		p.loggedState = ""
	}
	if len(problems) == 0 {
		p.failures, p.tried = 0, ""
		return
	}
	p.retryAt = time.Now().Add(limit)
	if slices.ContainsFunc(problems, failed) {
		p.retryAt = time.Now().Add(min(250*time.Millisecond<<min(p.failures, 10), limit))
		p.failures++
	}
	for _, problem := range problems {
		p.retryAt = earliest(p.retryAt, problem.RetryAt)
	}
}

// problems returns why the pod is not as desired. Those of the last work come first, and
// only as long as something is left to do for their containers.
func (p *podRecord) problems() []plan.Problem {
	switch {
	case p.err != nil:
		return []plan.Problem{{Reason: api.ReasonDocker, Message: p.err.Error()}}
	case p.conflict.Message != "":
		return []plan.Problem{p.conflict}
	}
	var problems []plan.Problem
	for _, problem := range p.failed {
		if slices.ContainsFunc(slices.Concat(p.plan.Steps...), func(a plan.Action) bool { return a.Name.Name == problem.Container }) {
			problems = append(problems, problem)
		}
	}
	if p.work != nil {
		problems = append(problems, p.work.runningHooks()...)
	}
	return append(problems, p.plan.Problems...)
}

// synced logs the state of a pod that needs no action.
func (p *podRecord) synced() {
	p.failed, p.failures, p.tried = nil, 0, ""
	switch {
	case len(p.plan.Problems) > 0:
	case p.pod == nil:
		p.logState("is gone")
	case p.plan.Finished:
		p.logState("has done its work")
	default:
		p.logState("is up")
	}
}

// logState logs the state of the pod if it has changed.
func (p *podRecord) logState(state string) {
	if p.loggedState != state {
		p.loggedState = state
		glog.Infof("%s %s", p.label(), state)
	}
}

// logProblems logs each problem that is new or has changed, and records an event for it.
func (p *podRecord) logProblems() {
	logged := map[string]string{}
	for _, problem := range p.problems() {
		logged[problem.Container] = problem.Message
		if p.loggedProblems[problem.Container] == problem.Message {
			continue
		}
		log := glog.Errorf
		switch {
		case problem.Reason == api.ReasonPulling:
			log = glog.V(2).Infof // the pull is logged itself
		case !failed(problem) || p.conflict.Message != "":
			log = glog.Warningf
		}
		verb := ":"
		if p.conflict.Message != "" {
			verb = " waits, unchanged:"
		}
		log("%s%s %v", p.label(), verb, problem)
		p.events.addQuietly(p.name, problem.Container, problem.Reason, problem.Message)
	}
	p.loggedProblems = logged
	if len(logged) > 0 {
		p.loggedState = ""
	}
}

// failed reports whether a problem is a failure. Otherwise something takes its time, or
// waits for its time.
func failed(p plan.Problem) bool { return p.RetryAt.IsZero() && p.Reason != api.ReasonPulling }

// joinProblems returns the problems as one line.
func joinProblems(problems []plan.Problem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return strings.Join(texts, "; ")
}
