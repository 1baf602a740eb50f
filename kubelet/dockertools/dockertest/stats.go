package dockertest

import (
	"context"
	"fmt"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Stats returns numbers that only grow: a process uses a thousandth of a core,
// a quarter of it in the kernel, and its network takes a packet of 100 bytes each
// second.
func (f *Fake) Stats(ctx context.Context, id string) (api.ContainerStats, error) {
	return ask(ctx, f, "Stats", id, func() (api.ContainerStats, error) {
		c, err := f.find(id)
		if err != nil {
			return api.ContainerStats{}, err
		}
		if !c.ListState.Live() {
			return api.ContainerStats{}, fmt.Errorf("%w: %s", dockertools.ErrNotRunning, id)
		}
		up := time.Since(c.Details.StartedAt)
		total := uint64(up / 1000)
		s := api.ContainerStats{
			Time:   time.Now(),
			CPU:    api.CPUStats{Total: total, User: total - total/4, System: total / 4, PerCPU: []uint64{total}},
			Memory: api.MemoryStats{Usage: 3 << 20, WorkingSet: 2 << 20},
		}
		network := c
		if c.Spec.NetworkContainer != "" {
			if network, err = f.find(c.Spec.NetworkContainer); err != nil {
				return s, nil
			}
		}
		packets := uint64(time.Since(network.Details.StartedAt) / time.Second)
		s.Network = api.NetworkStats{RxPackets: packets, RxBytes: 100 * packets}
		return s, nil
	})
}
