package kubelet

import (
	"context"
	"slices"
	"strings"
	"time"

	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/plan"
)

// makePlan decides what to do to a pod. While a disk runs short, only the newest dead attempt of each container is kept.
func (kl *Kubelet) makePlan(p *podRecord) plan.Plan {
	limits := kl.opts.Limits
	if kl.hasCondition(eviction.DiskPressure) {
		limits.MaxDeadContainers, limits.MinDeadAge = 1, 0
	}
	return plan.Make(p.pod, p.containers, limits, time.Now())
}

// hasCondition reports whether the host has a condition, and this kubelet has to act on it.
func (kl *Kubelet) hasCondition(conditionType string) bool {
	return kl.opts.Eviction != nil && slices.ContainsFunc(kl.opts.Eviction.Conditions(), func(c eviction.Condition) bool {
		return c.Met && c.Type == conditionType
	})
}

// holdStart returns why a pod of which nothing runs must not start now; no message: it may.
func (kl *Kubelet) holdStart(p *podRecord) plan.Problem {
	if kl.opts.Eviction == nil || p.err != nil || p.plan.Finished || p.isLive() || isCritical(p.pod) {
		return plan.Problem{}
	}
	return kl.opts.Eviction.Hold(p.name, p.pod.Complete.Priority, time.Now())
}

// isLive reports whether something of a pod runs.
func (p *podSnapshot) isLive() bool {
	return slices.ContainsFunc(p.containers, func(c plan.Observed) bool { return c.State.Live() })
}

// isCritical reports whether a pod has to run whatever the host lacks.
func isCritical(pod *plan.Pod) bool {
	class := pod.Complete.PriorityClassName
	return strings.HasPrefix(class, "system-") && strings.HasSuffix(class, "-critical")
}

// RelievePressure lets pods start again that were held, after each look at the host. Its reading is in Options.Eviction.
func (kl *Kubelet) RelievePressure(context.Context) {
	s := kl.snapshot.Load()
	if kl.opts.Eviction == nil || s == nil {
		return
	}
	desired := map[string]bool{}
	for i := range s.pods {
		desired[s.pods[i].name] = s.pods[i].pod != nil
	}
	if pod := kl.opts.Eviction.Release(time.Now(), func(pod string) bool { return desired[pod] }); pod != "" || kl.hasCondition(eviction.DiskPressure) {
		kl.wake("a look at the host")
	}
}
