package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// hold returns why a pod keeps its containers for now although the desired state of this
// moment says otherwise; no message: it does not.
func (kl *Kubelet) hold(p *podRecord) plan.Problem {
	_, _, source := api.SplitFullName(p.name)
	_, unsynced := kl.desired.unsynced[source]
	if p.pod == nil {
		problem := kl.holdRemoval(p, source)
		p.leaving = problem.Message == "" && len(p.containers) > 0
		return problem
	}
	p.leaving = false
	elsewhere := ""
	if unsynced && !p.adopted {
		elsewhere = p.madeElsewhere()
	}
	if elsewhere == "" {
		p.adopted = p.adopted || p.err == nil
		return kl.holdStart(p)
	}
	return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
		"its containers were made from %s and its manifest is now in %s: it may still be in the first one until source %s is read without an error",
		elsewhere, p.origin, source)}
}

// holdRemoval is hold for a pod that is not desired. A removal that has begun goes on.
func (kl *Kubelet) holdRemoval(p *podRecord, source string) plan.Problem {
	err, unsynced := kl.desired.unsynced[source]
	noPods, _ := errors.AsType[*api.NoPodsError](err)
	left := kl.desired.since.Add(kl.opts.RemovalWait)
	switch {
	case len(p.containers) == 0 || p.leaving:
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

// madeElsewhere returns the place that the manifest of the pod's containers was read from, if
// none of them is from the place of today's manifest, and a newest attempt is not as that says.
func (p *podRecord) madeElsewhere() (origin string) {
	for i := range p.containers {
		c, want := &p.containers[i], p.pod.Container(p.containers[i].Of.Name)
		same := want != nil && want.Hash == c.Of.Hash && p.pod.UID == c.Of.UID
		if c.Labels[dockertools.LabelOrigin] == p.origin {
			return ""
		}
		if !same && plan.IsNewest(p.containers, i) {
			origin = c.Labels[dockertools.LabelOrigin]
		}
	}
	return origin
}

// logHeld warns once of each source whose pods are held, except of one that has sent nothing yet.
func (kl *Kubelet) logHeld() {
	pods, why := map[string]int{}, map[string]string{} // by source
	for name, p := range kl.pods {
		_, _, source := api.SplitFullName(name)
		if err, unsynced := kl.desired.unsynced[source]; p.pod == nil && p.waits() && (err != nil || !unsynced) {
			pods[source]++
			why[source] = p.wait.Message
		}
	}
	for source, n := range pods {
		text := fmt.Sprintf("%s that no manifest names: %s", api.Count(n, "pod"), why[source])
		if last, _ := kl.logged.Swap("held pods of source "+source, text); last != text {
			glog.Warning(text)
		}
	}
}
