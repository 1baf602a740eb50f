package client

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// statsAnswer is what is read of Docker's answer.
type statsAnswer struct {
	Read     time.Time // zero: it does not run
	CPUStats struct {
		CPUUsage struct {
			Total  uint64   `json:"total_usage"`
			PerCPU []uint64 `json:"percpu_usage"` // not with cgroup v2
			System uint64   `json:"usage_in_kernelmode"`
			User   uint64   `json:"usage_in_usermode"`
		} `json:"cpu_usage"`
	} `json:"cpu_stats"`
	MemoryStats struct {
		Usage uint64
		Stats struct {
			V1 uint64 `json:"total_inactive_file"`
			V2 uint64 `json:"inactive_file"` // v1 has it too, without the cgroups below
		}
	} `json:"memory_stats"`
	Networks map[string]api.NetworkStats
}

// Stats makes the request here: the library's waits for ever when it cannot connect.
// one-shot spares the second measurement, a second later, that Docker would compare
// with.
func (c *Client) Stats(ctx context.Context, id string) (dockertools.Stats, error) {
	var answer statsAnswer
	what := fmt.Sprintf("measure container %q", id)
	err := c.getJSON(ctx, callLimit, what, "containers/"+id+"/stats", url.Values{"stream": {"0"}, "one-shot": {"1"}}, &answer)
	if err != nil {
		return dockertools.Stats{}, err
	}
	if answer.Read.IsZero() {
		return dockertools.Stats{}, fmt.Errorf("%s: %w", what, dockertools.ErrNotRunning)
	}
	return answer.convert(), nil
}

func (a *statsAnswer) convert() dockertools.Stats {
	cpu, memory := &a.CPUStats.CPUUsage, &a.MemoryStats
	s := dockertools.Stats{
		Time: a.Read,
		CPU:  api.CPUStats{Total: cpu.Total, User: cpu.User, System: cpu.System, PerCPU: cpu.PerCPU},
		Memory: api.MemoryStats{
			Usage: memory.Usage,
			// The two are not read at the same moment.
			WorkingSet: memory.Usage - min(memory.Usage, cmp.Or(memory.Stats.V1, memory.Stats.V2)),
		},
	}
	for _, n := range a.Networks {
		s.Network.Add(n)
	}
	return s
}
