package server

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"kubelet14/api"
)

// machineInfo describes this host. What the host does not tell is empty.
func machineInfo() (object, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	stat, statErr := proc.Stat()
	memory, memErr := proc.Meminfo()
	if err := errors.Join(statErr, memErr); err != nil {
		return nil, err
	}
	var kHz uint64
	if cpus, err := proc.CPUInfo(); err == nil && len(cpus) > 0 {
		kHz = uint64(cpus[0].CPUMHz * 1000)
	}
	return object{
		"num_cores": len(stat.CPU), "cpu_frequency_khz": kHz, "memory_capacity": bytesOf(memory.MemTotalBytes),
		"machine_id": fileText("/etc/machine-id"), "system_uuid": fileText("/sys/class/dmi/id/product_uuid"),
		"boot_id": fileText("/proc/sys/kernel/random/boot_id"),
	}, nil
}

// innerInterface matches the loopback and Docker's interfaces, whose traffic passes another interface too.
var innerInterface = regexp.MustCompile(`^(lo$|veth|docker|br-)`)

// machineStats measures this host.
func machineStats(now time.Time) (object, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	stat, statErr := proc.Stat()
	memory, memErr := proc.Meminfo()
	interfaces, netErr := proc.NetDev()
	load, loadErr := proc.LoadAvg()
	if err := errors.Join(statErr, memErr, netErr, loadErr); err != nil {
		return nil, err
	}
	usage := cpuUsage(stat.CPUTotal)
	for i := range int64(len(stat.CPU)) {
		usage.PerCPU = append(usage.PerCPU, cpuUsage(stat.CPU[i]).Total)
	}
	var network api.NetworkStats
	for name, i := range interfaces {
		if !innerInterface.MatchString(name) {
			network.Add(api.NetworkStats{
				RxBytes: i.RxBytes, RxPackets: i.RxPackets, RxErrors: i.RxErrors, RxDropped: i.RxDropped,
				TxBytes: i.TxBytes, TxPackets: i.TxPackets, TxErrors: i.TxErrors, TxDropped: i.TxDropped,
			})
		}
	}
	total := bytesOf(memory.MemTotalBytes)
	return object{
		"name": "/",
		"spec": object{
			"creation_time": time.Unix(int64(stat.BootTime), 0).UTC(), "has_cpu": true, "has_memory": true, "has_network": true,
			"cpu":    object{"limit": defaultShares, "mask": fileText("/sys/devices/system/cpu/online")},
			"memory": object{"limit": total},
		},
		"stats": []object{{
			"timestamp": now, "cpu": object{"usage": usage, "load_average": int(load.Load1 * 1000)}, "network": network,
			"memory": api.MemoryStats{Usage: total - bytesOf(memory.MemFreeBytes), WorkingSet: total - bytesOf(memory.MemAvailableBytes)},
		}},
	}, nil
}

func cpuUsage(c procfs.CPUStat) api.CPUStats {
	nanoseconds := func(seconds float64) uint64 { return uint64(seconds * float64(time.Second)) }
	user, system := c.User+c.Nice, c.System+c.IRQ+c.SoftIRQ
	return api.CPUStats{Total: nanoseconds(user + system + c.Steal), User: nanoseconds(user), System: nanoseconds(system)}
}

func bytesOf(n *uint64) uint64 { return *cmp.Or(n, new(uint64)) }

func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
