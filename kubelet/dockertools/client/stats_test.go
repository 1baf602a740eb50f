package client

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Docker's answers differ with the kernel's cgroups.
func TestStatsOfBothKindsOfCgroups(t *testing.T) {
	read := time.Date(2026, 11, 21, 16, 36, 7, 0, time.UTC)
	for name, test := range map[string]struct {
		answer string
		want   dockertools.Stats
	}{
		"v1": {`{"read":"2026-11-21T16:36:07Z",
			"cpu_stats":{"cpu_usage":{"total_usage":32,"percpu_usage":[1,31],"usage_in_kernelmode":10,"usage_in_usermode":20}},
			"memory_stats":{"usage":6000,"stats":{"inactive_file":1000,"total_inactive_file":4000}},
			"networks":{"eth0":{"rx_bytes":200,"rx_packets":2,"rx_errors":1,"rx_dropped":3,"tx_bytes":100,"tx_packets":4,"tx_errors":5,"tx_dropped":6}}}`,
			dockertools.Stats{Time: read, CPU: api.CPUStats{Total: 32, User: 20, System: 10, PerCPU: []uint64{1, 31}}, Memory: api.MemoryStats{Usage: 6000, WorkingSet: 2000},
				Network: api.NetworkStats{RxBytes: 200, RxPackets: 2, RxErrors: 1, RxDropped: 3, TxBytes: 100, TxPackets: 4, TxErrors: 5, TxDropped: 6}}},
		"v2, in two networks": {`{"read":"2026-11-21T16:36:07Z",
			"cpu_stats":{"cpu_usage":{"total_usage":32,"usage_in_kernelmode":10,"usage_in_usermode":22}},
			"memory_stats":{"usage":6000,"stats":{"inactive_file":1000}},
			"networks":{"eth0":{"rx_bytes":200},"eth1":{"rx_bytes":1,"tx_bytes":2}}}`,
			dockertools.Stats{Time: read, CPU: api.CPUStats{Total: 32, User: 22, System: 10}, Memory: api.MemoryStats{Usage: 6000, WorkingSet: 5000}, Network: api.NetworkStats{RxBytes: 201, TxBytes: 2}}},
		"more that it could give up than it has": {`{"read":"2026-11-21T16:36:07Z","memory_stats":{"usage":1,"stats":{"inactive_file":2}}}`,
			dockertools.Stats{Time: read, Memory: api.MemoryStats{Usage: 1}}},
	} {
		got, err := clientOf(t, answer(200, test.answer)).Stats(t.Context(), "web")
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
