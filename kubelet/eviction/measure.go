package eviction

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/volume"
)

// Meter measures how much pods use of a resource that runs short.
type Meter struct {
	Docker     dockertools.Interface
	Containers map[string]string // labels of the containers to measure
	Volumes    *volume.RootDir
}

// One measurement that hangs must not prevent the others.
const (
	measureLimit  = 5 * time.Second  // for one pod
	measuresLimit = 20 * time.Second // for all of them
	maxMeasures   = 8                // at a time
	maxUsageFiles = 1_000_000        // that are counted of a pod
)

// Measure measures desired pods, and returns those whose eviction helps.
func (m Meter) Measure(ctx context.Context, pods []*status.Pod, p *Pressure) (all []Usage) {
	ctx, cancel := context.WithTimeout(ctx, measuresLimit)
	defer cancel()
	var measures errgroup.Group
	measures.SetLimit(maxMeasures)
	sizes, sizesErr := map[string]int64{}, error(nil) // of what containers have written outside of volumes, by id
	if p.Signal == ImageFsAvailable || p.Signal == NodeFsAvailable && p.OneDisk {
		measures.Go(func() error {
			sizes, sizesErr = m.Docker.ContainerSizes(ctx, m.Containers)
			return nil
		})
	}
	found := make([]Usage, len(pods))
	for i, pod := range pods {
		measures.Go(func() error {
			found[i] = m.usage(ctx, pod, p)
			return nil
		})
	}
	_ = measures.Wait()
	for i, u := range found {
		for _, c := range pods[i].Observed {
			u.Used += sizes[c.ID]
		}
		if u.AtLeast && u.Used == 0 {
			u.Used = -1
		}
		if u.AtLeast = u.AtLeast || sizesErr != nil; u.Used != 0 {
			all = append(all, u)
		}
	}
	return all
}

// usage measures a pod, without what its containers have written outside of volumes.
func (m Meter) usage(ctx context.Context, pod *status.Pod, p *Pressure) Usage {
	ctx, cancel := context.WithTimeout(ctx, measureLimit)
	defer cancel()
	u := Usage{Pod: pod.Name, Priority: pod.Desired.Complete.Priority}
	if p.Signal == MemoryAvailable {
		u.Used, u.Request = m.memory(ctx, pod)
		return u
	}
	if p.Signal != ImageFsAvailable || p.OneDisk {
		disk := m.Volumes.Usage(ctx, pod.Desired.UID, maxUsageFiles)
		if u.Used, u.AtLeast = disk.Bytes, disk.AtLeast; p.Signal == NodeFsInodesFree {
			u.Used = disk.Files
		}
	}
	return u
}

// memory returns how much memory a pod uses, -1 if that is not known, and how much it has requested.
func (m Meter) memory(ctx context.Context, pod *status.Pod) (used, request int64) {
	for _, app := range pod.Desired.Staying() {
		request += cmp.Or(app.Spec.MemoryRequest, app.Spec.Memory)
	}
	for i := range pod.Observed {
		if c := &pod.Observed[i]; c.State.Live() {
			stats, err := m.Docker.Stats(ctx, c.ID)
			if err != nil {
				return -1, request
			}
			used += int64(stats.Memory.WorkingSet)
		}
	}
	return cmp.Or(used, -1), request
}

// MayEvict reports whether a pod runs, is desired and is not critical.
func MayEvict(p *status.Pod) bool {
	return p.Desired != nil && p.IsLive() && !IsCritical(p.Desired)
}

// IsCritical reports whether a pod has one of upstream's two priority classes that are never evicted.
func IsCritical(pod *plan.Pod) bool {
	class := pod.Complete.PriorityClassName
	return class == "system-cluster-critical" || class == "system-node-critical"
}
