package client

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Stats makes its own request: the library's waits for ever when it cannot connect,
// and for a second measurement.
func (c *Client) Stats(ctx context.Context, id string) (dockertools.Stats, error) {
	var answer docker.Stats
	err := c.begin(ctx, callLimit, "measure container %q", id).getJSON("containers/"+id+"/stats", url.Values{"stream": {"0"}, "one-shot": {"1"}}, &answer)
	if err == nil && answer.Read.IsZero() {
		err = fmt.Errorf("measure container %q: %w", id, dockertools.ErrNotRunning)
	}
	if err != nil {
		return dockertools.Stats{}, err
	}
	cpu, memory := answer.CPUStats.CPUUsage, answer.MemoryStats
	// The first is of cgroup v1, where the second leaves out the cgroups below.
	inactive := cmp.Or(memory.Stats.TotalInactiveFile, memory.Stats.InactiveFile)
	s := dockertools.Stats{
		Time: answer.Read,
		CPU:  api.CPUStats{Total: cpu.TotalUsage, User: cpu.UsageInUsermode, System: cpu.UsageInKernelmode, PerCPU: cpu.PercpuUsage},
		// The two are not read at the same moment.
		Memory: api.MemoryStats{Usage: memory.Usage, WorkingSet: memory.Usage - min(memory.Usage, inactive)},
	}
	for _, n := range answer.Networks {
		s.Network.Add(api.NetworkStats{
			RxBytes: n.RxBytes, RxPackets: n.RxPackets, RxErrors: n.RxErrors, RxDropped: n.RxDropped,
			TxBytes: n.TxBytes, TxPackets: n.TxPackets, TxErrors: n.TxErrors, TxDropped: n.TxDropped,
		})
	}
	return s, nil
}
