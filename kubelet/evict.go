package kubelet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/plan"
)

var noPressure = eviction.NewManager(eviction.Options{}) // it gets no readings

func (kl *Kubelet) pressure() *eviction.Manager { return cmp.Or(kl.opts.Eviction, noPressure) }

// evicts returns why a pod has to end for a time; no message: it need not, or it has ended.
func (kl *Kubelet) evicts(p *podRecord) (v plan.Verdict) {
	if p.mayBeEvicted() {
		v = kl.pressure().Verdict(p.name)
	}
	return v
}

// makePlan decides what to do to a pod: what its manifest says, unless it has to end for a time. While a disk runs short,
// only the newest dead attempt of each container is kept.
func (kl *Kubelet) makePlan(p *podRecord) plan.Plan {
	if v := kl.evicts(p); v.Message != "" {
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

// isCritical reports whether a pod has one of the two classes of upstream that nothing evicts.
func isCritical(pod *plan.Pod) bool {
	class := pod.Complete.PriorityClassName
	return class == "system-cluster-critical" || class == "system-node-critical"
}

// syncProbes lets the containers of a pod be probed, unless it is evicted: one that ends is not ready, which is no news.
func (kl *Kubelet) syncProbes(ctx context.Context, p *podRecord) {
	pod := p.pod
	if kl.evicts(p).Message != "" {
		pod = nil
	}
	kl.probes.Sync(ctx, p.name, pod, p.containers, podIP(p.containers))
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
		ending = ending || p.isLive() && m.Ending(p.name)
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

// What hangs or has no end must not take the figures of others: measureLimit is for one pod, and answerLimit for all of them.
const (
	measureLimit  = 5 * time.Second
	maxMeasures   = 8         // at a time
	maxUsageFiles = 1_000_000 // that are counted of a pod
)

// usages measures the pods that may be evicted and whose eviction helps.
func (kl *Kubelet) usages(ctx context.Context, s *snapshot, p *eviction.Pressure) (all []eviction.Usage) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	var measures errgroup.Group
	measures.SetLimit(maxMeasures)
	sizes, sizesErr := map[string]int64{}, error(nil) // of what containers have written outside of volumes, by id
	if p.Signal == eviction.ImageFsAvailable || p.Signal == eviction.NodeFsAvailable && p.OneDisk {
		measures.Go(func() error {
			sizes, sizesErr = kl.docker.ContainerSizes(ctx, kl.opts.Identity.Selector())
			return nil
		})
	}
	found := make([]eviction.Usage, len(s.pods))
	for i := range s.pods {
		pod := &s.pods[i]
		if pod.mayBeEvicted() && pod.err == nil && !pod.waits() && !pod.plan.Finished && kl.pressure().Verdict(pod.name).Message == "" {
			measures.Go(func() error {
				found[i] = kl.usage(ctx, pod, p)
				return nil
			})
		}
	}
	_ = measures.Wait()
	for i, u := range found {
		for _, c := range s.pods[i].containers {
			u.Used += sizes[c.ID]
		}
		if u.AtLeast && u.Used == 0 {
			u.Used = -1
		}
		u.AtLeast = u.AtLeast || sizesErr != nil
		if u.Pod != "" && u.Used != 0 {
			all = append(all, u)
		}
	}
	return all
}

// usage measures a pod, without what its containers have written outside of volumes.
func (kl *Kubelet) usage(ctx context.Context, pod *podSnapshot, p *eviction.Pressure) eviction.Usage {
	ctx, cancel := context.WithTimeout(ctx, measureLimit)
	defer cancel()
	u := eviction.Usage{Pod: pod.name, Priority: pod.pod.Complete.Priority}
	if p.Signal == eviction.MemoryAvailable {
		u.Used, u.Request = kl.memory(ctx, pod)
		return u
	}
	if p.Signal != eviction.ImageFsAvailable || p.OneDisk {
		disk := kl.opts.Volumes.Usage(ctx, pod.pod.UID, maxUsageFiles)
		if u.Used, u.AtLeast = disk.Bytes, disk.AtLeast; p.Signal == eviction.NodeFsInodesFree {
			u.Used = disk.Files
		}
	}
	return u
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
