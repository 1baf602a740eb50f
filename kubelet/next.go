package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/watch"
)

// next decides what is done about an idle pod, and when to decide again even if nothing happens. It changes nothing.
func (kl *Kubelet) next(p *podRecord) (d watch.Decision, again time.Time) {
	switch {
	case p.held():
		return watch.Keeps, p.Wait.RetryAt
	case p.Waits():
		return watch.Asks, p.Plan.Next
	case len(p.Plan.Steps) == 0:
		return watch.Rests, p.Plan.Next
	case kl.isFinal(p):
		return watch.Keeps, time.Time{}
	case kl.backsOff(p):
		return watch.Retries, plan.Earliest(p.retryAt, p.Plan.Next)
	}
	return watch.Works, p.Plan.Next
}

// backsOff reports whether a pod's steps were tried, and it is too early to try them again.
func (kl *Kubelet) backsOff(p *podRecord) bool {
	return kl.tryID(p) == p.tried && time.Now().Before(p.retryAt)
}

// tryID identifies a try to carry out a plan. It changes with the plan, and when a pull that the plan waits for has ended
// or a ConfigMap or Secret has changed: then the plan is tried again at once.
func (kl *Kubelet) tryID(p *podRecord) string {
	text := p.planID()
	for _, a := range p.Plan.Actions() {
		if a.Kind == plan.Create {
			text += fmt.Sprintf(" %v %d", kl.images.EndedAt(kl.executor.ImageOf(a.Container)), kl.configs.Edits())
		}
	}
	return text
}

// hold returns why a pod keeps its containers for now although other ones are desired; no message: it does not. The first of
// these reasons counts:
//
//  1. Its source is not ready, so it may be desired elsewhere, or still be desired.
//  2. The host runs short of something, and nothing of the pod runs.
//  3. Another pod has its UID or a host port of it.
//  4. A person has not allowed its plan.
func (kl *Kubelet) hold(p *podRecord, conflict plan.Problem, busy bool) plan.Problem {
	for _, why := range []plan.Problem{kl.holdForSource(p), kl.holdForPressure(p), conflict} {
		if why.Message != "" {
			return why
		}
	}
	if len(p.Plan.Steps) > 0 && len(p.allowed) == 0 && !busy && p.Err == nil && !kl.backsOff(p) {
		return step.Wait
	}
	return plan.Problem{}
}

// holdForPressure holds a pod of which nothing runs while the host runs short of something.
func (kl *Kubelet) holdForPressure(p *podRecord) plan.Problem {
	if p.Desired == nil || p.Err != nil || p.Plan.Finished || p.IsLive() || eviction.IsCritical(p.Desired) {
		return plan.Problem{}
	}
	return kl.opts.Eviction.Hold(p.Name, p.Desired.Complete.Priority, time.Now())
}

// holdForSource holds a pod while its source is not ready, and may still want it as it is.
func (kl *Kubelet) holdForSource(p *podRecord) plan.Problem {
	_, _, source := api.SplitFullName(p.Name)
	if p.Desired == nil {
		return kl.holdRemoval(p, source)
	}
	if _, unsynced := kl.desired.unsynced[source]; !unsynced || p.adopted {
		return plan.Problem{}
	}
	elsewhere := p.madeElsewhere()
	if elsewhere == "" {
		return plan.Problem{}
	}
	return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
		"its containers were made from %s and its manifest is now in %s: it may still be in the first one until source %s is read without an error",
		elsewhere, p.Origin, source)}
}

// holdRemoval holds the containers of a pod that is not desired. A removal that has begun goes on.
func (kl *Kubelet) holdRemoval(p *podRecord, source string) plan.Problem {
	err, unsynced := kl.desired.unsynced[source]
	noPods, _ := errors.AsType[*api.NoPodsError](err)
	left := kl.desired.since.Add(kl.opts.RemovalWait)
	switch {
	case len(p.Observed) == 0 || p.leaving:
		return plan.Problem{}
	case noPods != nil: // the source is read again, and sends an update
		return plan.Problem{Reason: api.ReasonRemoved, Message: noPods.Error()}
	case unsynced && !p.adopted:
		return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
			"it stays as it is until all of source %s was read: no manifest names it so far", source)}
	case !unsynced && !kl.reads(source) && time.Now().Before(left):
		noPods = &api.NoPodsError{Source: source, Until: left}
		return plan.Problem{Reason: api.ReasonRemoved, RetryAt: left, Message: noPods.Error()}
	}
	return plan.Problem{}
}

// reads reports whether the flags name a source.
func (kl *Kubelet) reads(source string) bool {
	return slices.ContainsFunc(kl.opts.Sources(), func(s api.SourceStatus) bool { return s.Source == source })
}

// madeElsewhere returns the origin of the pod's containers if none of them has the origin of today's manifest and
// a newest attempt differs from that manifest, and "" otherwise.
func (p *podRecord) madeElsewhere() (origin string) {
	for i := range p.Observed {
		c, want := &p.Observed[i], p.Desired.Container(p.Observed[i].Of.Name)
		same := want != nil && want.Hash == c.Of.Hash && p.Desired.UID == c.Of.UID
		if c.Labels[dockertools.LabelOrigin] == p.Origin {
			return ""
		}
		if !same && plan.IsNewest(p.Observed, i) {
			origin = c.Labels[dockertools.LabelOrigin]
		}
	}
	return origin
}
