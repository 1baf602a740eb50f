package kubelet

import (
	"context"
	"time"

	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
)

// evicts returns why a pod must end for a time; no message: it need not, or it has ended.
func (kl *Kubelet) evicts(p *podRecord) (v plan.Verdict) {
	if eviction.MayEvict(&p.Pod) {
		v = kl.opts.Eviction.Verdict(p.Name)
	}
	return v
}

// makePlan plans what the manifest of a pod says, or its eviction. While a disk runs short, only the newest dead attempt of
// each container is kept.
func (kl *Kubelet) makePlan(p *podRecord) plan.Plan {
	if v := kl.evicts(p); v.Message != "" {
		return plan.Evict(p.Desired, p.Observed, v)
	}
	limits := kl.opts.Limits
	if kl.opts.Eviction.DiskPressure() {
		limits.MaxDeadContainers, limits.MinDeadAge = 1, 0
	}
	return plan.Make(p.Desired, p.Observed, limits, time.Now())
}

// syncProbes lets the containers of a pod be probed, unless it is done, stopped or being evicted.
func (kl *Kubelet) syncProbes(ctx context.Context, p *podRecord) {
	pod := p.Desired
	if kl.evicts(p).Message != "" || p.Plan.Finished {
		pod = nil
	}
	kl.probes.Sync(ctx, p.Name, pod, p.Observed, status.PodIP(p.Observed))
}

// RelievePressure is called after each look at the host. It releases a pod that was held, or chooses one to evict; the next
// sync starts or stops it.
func (kl *Kubelet) RelievePressure(ctx context.Context) {
	m, s := kl.opts.Eviction, kl.snapshot.Load()
	if s.At.IsZero() || kl.Health() != nil { // nobody can be stopped, or measured
		return
	}
	meter := eviction.Meter{Docker: kl.opts.Docker, Containers: kl.opts.Identity.Selector(), Volumes: kl.opts.Volumes}
	if changed := m.Relieve(ctx, s.Pods, s.At, meter); changed || m.DiskPressure() {
		kl.wake(watch.HostLook)
	}
}
