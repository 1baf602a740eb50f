package kubelet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/plan"
)

// makePlan decides what to do to a pod: what its manifest says, unless it has to end for a time. While a disk runs short,
// only the newest dead attempt of each container is kept.
func (kl *Kubelet) makePlan(p *podRecord) plan.Plan {
	limits := kl.opts.Limits
	if kl.hasCondition(eviction.DiskPressure) {
		limits.MaxDeadContainers, limits.MinDeadAge = 1, 0
	}
	made := plan.Make(p.pod, p.containers, limits, time.Now())
	if v := kl.verdict(p.name); v.Message != "" && p.pod != nil && p.isLive() && !made.Finished {
		return plan.Evict(p.pod, p.containers, v)
	}
	return made
}

// verdict returns whether a pod has to end.
func (kl *Kubelet) verdict(pod string) plan.Verdict {
	if kl.opts.Eviction == nil {
		return plan.Verdict{}
	}
	return kl.opts.Eviction.Verdict(pod)
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

// RelievePressure is called after each look at the host, which Options.Eviction knows. It lets a pod start that was held, or
// evicts one, if that has to be. A sync then does it.
func (kl *Kubelet) RelievePressure(ctx context.Context) {
	m, s := kl.opts.Eviction, kl.snapshot.Load()
	if m == nil || s == nil {
		return
	}
	desired, ending := map[string]bool{}, false
	for i := range s.pods {
		p := &s.pods[i]
		desired[p.name] = p.pod != nil
		ending = ending || p.isLive() && kl.verdict(p.name).Message != ""
	}
	pod := m.Release(time.Now(), func(pod string) bool { return desired[pod] })
	if !ending {
		if p := m.Wanted(s.at); p != nil {
			pod = cmp.Or(m.Evict(p, kl.usages(ctx, s, p)), pod)
		}
	}
	if pod != "" || kl.hasCondition(eviction.DiskPressure) {
		kl.wake("a look at the host")
	}
}

// usages measures the pods that can be evicted; for a disk, those that have written to it.
func (kl *Kubelet) usages(ctx context.Context, s *snapshot, p *eviction.Pressure) (all []eviction.Usage) {
	layers := map[string]int64{} // what containers have written outside of volumes, by id
	if p.OneDisk && p.Signal == eviction.NodeFsAvailable || p.Signal == eviction.ImageFsAvailable {
		layers, _ = kl.docker.ContainerSizes(ctx, kl.opts.Identity.Selector())
	}
	for i := range s.pods {
		pod := &s.pods[i]
		if pod.pod == nil || pod.err != nil || pod.waits() || pod.plan.Finished || !pod.isLive() || isCritical(pod.pod) {
			continue
		}
		u := eviction.Usage{Pod: pod.name, Priority: pod.pod.Complete.Priority}
		if p.Signal == eviction.MemoryAvailable {
			u.Used, u.Request = kl.memory(ctx, pod)
			all = append(all, u)
			continue
		}
		for i := range pod.containers {
			u.Used += layers[pod.containers[i].ID]
		}
		bytes, files := kl.opts.Volumes.Usage(ctx, pod.pod.UID)
		switch {
		case p.Signal == eviction.NodeFsInodesFree:
			u.Used = files
		case p.OneDisk || p.Signal == eviction.NodeFsAvailable:
			u.Used += bytes
		}
		if u.Used > 0 {
			all = append(all, u)
		}
	}
	return all
}

// memory returns how much memory a pod uses, -1 if that is not known, and how much it has requested.
func (kl *Kubelet) memory(ctx context.Context, pod *podSnapshot) (used, request int64) {
	for _, app := range pod.pod.Apps {
		request += cmp.Or(app.Spec.MemoryRequest, app.Spec.Memory)
	}
	for i := range pod.containers {
		if c := &pod.containers[i]; c.State.Live() {
			stats, err := kl.docker.Stats(ctx, c.ID)
			if err != nil {
				return -1, request
			}
			used += int64(stats.Memory.WorkingSet)
		}
	}
	return used, request
}

// wasEvicted reports whether a pod was evicted since the start of the kubelet.
func (kl *Kubelet) wasEvicted(pod *plan.Pod) bool {
	return kl.opts.Eviction != nil && kl.opts.Eviction.WasEvicted(pod.FullName())
}
