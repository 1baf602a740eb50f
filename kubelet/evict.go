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

var noPressure = eviction.NewManager(eviction.Options{}) // it gets no readings

func (kl *Kubelet) pressure() *eviction.Manager { return cmp.Or(kl.opts.Eviction, noPressure) }

// makePlan decides what to do to a pod: what its manifest says, unless it has to end for a time. While a disk runs short,
// only the newest dead attempt of each container is kept.
func (kl *Kubelet) makePlan(p *podRecord) plan.Plan {
	if v := kl.pressure().Verdict(p.name); v.Message != "" && p.mayBeEvicted() {
		return plan.Evict(p.pod, p.containers, v)
	}
	limits := kl.opts.Limits
	if kl.pressure().DiskPressure() {
		limits.MaxDeadContainers, limits.MinDeadAge = 1, 0
	}
	return plan.Make(p.pod, p.containers, limits, time.Now())
}

// holdStart returns why a pod of which nothing runs must not start now; no message: it may.
func (kl *Kubelet) holdStart(p *podRecord) plan.Problem {
	if p.err != nil || p.plan.Finished || p.isLive() || isCritical(p.pod) {
		return plan.Problem{}
	}
	return kl.pressure().Hold(p.name, p.pod.Complete.Priority, time.Now())
}

// isLive reports whether something of a pod runs.
func (p *podSnapshot) isLive() bool {
	return slices.ContainsFunc(p.containers, func(c plan.Observed) bool { return c.State.Live() })
}

// mayBeEvicted reports whether something of a pod runs that is not needed whatever the host lacks.
func (p *podSnapshot) mayBeEvicted() bool { return p.pod != nil && p.isLive() && !isCritical(p.pod) }

// isCritical reports whether a pod has one of the two classes system-…-critical.
func isCritical(pod *plan.Pod) bool {
	class := pod.Complete.PriorityClassName
	return strings.HasPrefix(class, "system-") && strings.HasSuffix(class, "-critical")
}

// RelievePressure follows each look at the host, which Options.Eviction knows. It lets a pod start that was held, or evicts
// one; the next sync does it.
func (kl *Kubelet) RelievePressure(ctx context.Context) {
	m, s := kl.pressure(), kl.snapshot.Load()
	if s == nil || kl.Health() != nil { // nobody can be stopped, or measured
		return
	}
	mayWait, ending := map[string]bool{}, false
	for i := range s.pods {
		p := &s.pods[i]
		mayWait[p.name] = p.pod != nil && !p.plan.Finished && !isCritical(p.pod)
		ending = ending || p.isLive() && m.Verdict(p.name).Message != ""
	}
	changed := m.Release(mayWait)
	for _, p := range m.Wanted(s.at, ending) {
		if m.Evict(p, kl.usages(ctx, s, p)) {
			changed = true
			break
		}
	}
	if changed || m.DiskPressure() {
		kl.wake("a look at the host")
	}
}

// usages measures the pods that may be evicted and whose eviction helps.
func (kl *Kubelet) usages(ctx context.Context, s *snapshot, p *eviction.Pressure) (all []eviction.Usage) {
	sizes := map[string]int64{} // of what containers have written outside of volumes, by id
	if p.Signal == eviction.ImageFsAvailable || p.Signal == eviction.NodeFsAvailable && p.OneDisk {
		sizes, _ = kl.docker.ContainerSizes(ctx, kl.opts.Identity.Selector())
	}
	stats, cancel := context.WithTimeout(ctx, answerLimit) // of all: one that hangs must not hold up the looks at the host
	defer cancel()
	for i := range s.pods {
		pod := &s.pods[i]
		if !pod.mayBeEvicted() || pod.err != nil || pod.waits() || pod.plan.Finished {
			continue
		}
		u := eviction.Usage{Pod: pod.name, Priority: pod.pod.Complete.Priority}
		switch {
		case p.Signal == eviction.MemoryAvailable:
			u.Used, u.Request = kl.memory(stats, pod)
		case p.Signal == eviction.NodeFsInodesFree:
			_, u.Used = kl.opts.Volumes.Usage(ctx, pod.pod.UID)
		case p.Signal == eviction.NodeFsAvailable || p.OneDisk:
			u.Used, _ = kl.opts.Volumes.Usage(ctx, pod.pod.UID)
		}
		for i := range pod.containers {
			u.Used += sizes[pod.containers[i].ID]
		}
		if u.Used != 0 {
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
	return cmp.Or(used, -1), request
}
