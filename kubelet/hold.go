package kubelet

import (
	"fmt"
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
	if p.pod == nil {
		until := kl.desired.emptiedAt(source).Add(kl.opts.RemovalWait)
		if !time.Now().Before(until) {
			return plan.Problem{}
		}
		return plan.Problem{Reason: api.ReasonRemoved, RetryAt: until, Message: fmt.Sprintf(
			"source %s wants no pods at all; its containers are removed at %s unless the manifests come back", source, until.Format(time.TimeOnly))}
	}
	_, unsynced := kl.desired.unsynced[source]
	elsewhere := p.madeElsewhere()
	p.adopted = p.adopted || p.err == nil && (!unsynced || elsewhere == "")
	if p.adopted {
		return plan.Problem{}
	}
	return plan.Problem{Reason: api.ReasonSourceNotReady, Message: fmt.Sprintf(
		"its containers were made from %s and its manifest is now in %s: it may still be in the first one until source %s is read without an error",
		elsewhere, p.origin, source)}
}

// madeElsewhere returns the place of the manifest that a pod's containers were made from, if
// neither that place nor any app container is as the manifest of now says.
func (p *podRecord) madeElsewhere() (origin string) {
	for i := range p.containers {
		c := &p.containers[i]
		want := p.pod.Container(c.Of.Name)
		same := want != nil && want.Spec != nil && want.Hash == c.Of.Hash && p.pod.UID == c.Of.UID
		if origin = c.Labels[dockertools.LabelOrigin]; same || origin == p.origin {
			return ""
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

// logHeld warns once of each source of which all pods are about to be removed, or whose error
// keeps containers that no manifest names.
func (kl *Kubelet) logHeld(list []dockertools.Owned) {
	unnamed, leaving, texts := map[string]int{}, map[string]int{}, map[string]string{}
	for i := range list {
		name := list[i].Of.PodFullName
		if i > 0 && list[i-1].Of.PodFullName == name {
			continue
		}
		p := kl.pods[name]
		if p != nil && p.pod != nil {
			continue
		}
		_, _, source := api.SplitFullName(name)
		switch {
		case p == nil && kl.desired.unsynced[source] != nil:
			unnamed[source]++
			texts[source] = fmt.Sprintf("source %s has errors, so %s of it that no manifest names so far will be removed only once they are repaired",
				source, api.Count(unnamed[source], "pod"))
		case p != nil && !p.conflict.RetryAt.IsZero():
			leaving[source]++
			texts[source] = fmt.Sprintf("source %s wants no pods at all: %s will be removed at %s, in %v. If a mount is late or gone, "+
				"or the directory was emptied by mistake, bring the manifests back by then, and nothing is removed",
				source, api.Count(leaving[source], "pod"), p.conflict.RetryAt.Format(time.TimeOnly), kl.opts.RemovalWait)
		}
	}
	for source, text := range texts {
		if last, _ := kl.logged.Swap("removals of source "+source, text); last != text {
			glog.Warning(text)
		}
	}
}
