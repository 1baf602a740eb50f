package kubelet

import (
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
		return kl.holdRemoval(p, source, unsynced)
	}
	elsewhere := ""
	if unsynced && !p.adopted {
		elsewhere = p.madeElsewhere()
	}
	if elsewhere == "" {
		p.adopted = p.adopted || p.err == nil
		return plan.Problem{}
	}
	return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
		"its containers were made from %s and its manifest is now in %s: it may still be in the first one until source %s is read without an error",
		elsewhere, p.origin, source)}
}

// holdRemoval is hold for a pod that is not desired.
func (kl *Kubelet) holdRemoval(p *podRecord, source string, unsynced bool) plan.Problem {
	switch {
	case len(p.containers) == 0:
		return plan.Problem{}
	case unsynced && !p.adopted:
		return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
			"it stays as it is until all of source %s was read: no manifest names it so far", source)}
	case !kl.desired.emptiedAt(source).IsZero() && kl.isUnreadable(source):
		kl.desired.emptied[source] = time.Now() // the wait begins anew
		return plan.Problem{Reason: api.ReasonSourceNotReady, RetryAt: time.Now().Add(time.Second), Message: fmt.Sprintf(
			"it stays as it is until source %s can be read again, which wanted no pods at all", source)}
	}
	until := kl.removalAt(source)
	if !time.Now().Before(until) {
		return plan.Problem{}
	}
	return plan.Problem{Reason: api.ReasonRemoved, RetryAt: until, Message: fmt.Sprintf(
		"source %s wants no pods at all; its containers are removed at %s unless the manifests come back", source, until.Format(time.TimeOnly))}
}

// removalAt returns when pods that their source no longer wants may be removed.
func (kl *Kubelet) removalAt(source string) time.Time {
	return kl.desired.emptiedAt(source).Add(kl.opts.RemovalWait)
}

func (kl *Kubelet) isUnreadable(source string) bool {
	return slices.ContainsFunc(kl.opts.Sources(), func(s api.SourceStatus) bool { return s.Source == source && s.Unreadable })
}

// madeElsewhere returns the place that the manifest of the pod's containers was read from, if
// none of them is from the place of today's manifest, and a newest attempt is not as that says.
func (p *podRecord) madeElsewhere() (origin string) {
	for i := range p.containers {
		c, want := &p.containers[i], p.pod.Container(p.containers[i].Of.Name)
		same := want != nil && want.Hash == c.Of.Hash && p.pod.UID == c.Of.UID
		newest := i+1 == len(p.containers) || p.containers[i+1].Of.Name != c.Of.Name
		if c.Labels[dockertools.LabelOrigin] == p.origin {
			return ""
		}
		if newest && !same {
			origin = c.Labels[dockertools.LabelOrigin]
		}
	}
	return origin
}

// emptiedAt returns when a source lost all of its pods, if these were several or if it has
// named none since the start.
func (d *desired) emptiedAt(source string) time.Time {
	if _, named := d.emptied[source]; !named {
		d.emptied[source] = time.Now()
	}
	return d.emptied[source]
}

// logHeld warns once of each source that wants no pods, or whose error keeps unnamed ones.
func (kl *Kubelet) logHeld() {
	leaving, unnamed := map[string]int{}, map[string]int{}
	for name, p := range kl.pods {
		_, _, source := api.SplitFullName(name)
		switch {
		case p.pod != nil || !p.waits():
		case p.wait.Reason == api.ReasonRemoved:
			leaving[source]++
		case kl.desired.unsynced[source] != nil:
			unnamed[source]++
		}
	}
	warn := func(what, text string) {
		if last, _ := kl.logged.Swap(what, text); last != text {
			glog.Warning(text)
		}
	}
	for source, n := range leaving {
		warn("removals of source "+source, fmt.Sprintf("source %s wants no pods at all: %s will be removed at %s. "+
			"If a mount is late, or files or the flag of the source are missing by mistake, bring them back by then, and nothing is removed",
			source, api.Count(n, "pod"), kl.removalAt(source).Format(time.TimeOnly)))
	}
	for source, n := range unnamed {
		warn("unnamed pods of source "+source, fmt.Sprintf(
			"source %s has errors: until they are repaired, nothing is done to %s of it that no manifest names so far",
			source, api.Count(n, "pod")))
	}
}
