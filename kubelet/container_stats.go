package kubelet

import (
	"context"

	"kubelet14/api"
)

// ContainerStats measures a container that runs, of a pod that is wanted or being
// removed. The error is api.ErrNotFound when it does not run. It may be called at any
// time by any goroutine, and asks Docker each time.
func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	found, err := kl.findContainer(ctx, podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	c, err := found.running(podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	measured, err := kl.docker.Stats(ctx, c.ID)
	if err != nil {
		return api.ContainerStats{}, endedMeanwhile(err, podFullName, container)
	}
	stats := api.ContainerStats{
		Time: measured.Time, CPU: measured.CPU, Memory: measured.Memory, Network: measured.Network,
		Created: c.Created, Image: c.Image, ID: c.ID,
	}
	if found.want != nil && found.want.spec != nil {
		stats.MemoryLimit, stats.CPUShares = found.want.spec.Memory, cpuShares(found.want.spec.CPU)
	}
	return stats, nil
}
