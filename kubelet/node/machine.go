package node

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"time"

	"github.com/prometheus/procfs"

	"kubelet14/api"
)

// Machine describes and measures this machine.
type Machine struct {
	Cores                         int
	MHz                           float64
	MachineID, SystemUUID, BootID string // empty when they cannot be read
	OnlineCPUs                    string // such as 0-3
	BootTime                      time.Time

	CPU         api.CPUStats // since the boot
	Load        float64      // of the last minute
	MemoryTotal uint64
	Memory      api.MemoryStats
	Network     procfs.NetDevLine // the sum of its interfaces
}

// innerInterface matches the loopback and Docker's interfaces, whose traffic passes another interface too.
var innerInterface = regexp.MustCompile(`^(lo$|veth|docker|br-)`)

// Machine reads a Machine.
func (r Reader) Machine() (m Machine, err error) {
	proc, err := procfs.NewFS(r.proc())
	stat, statErr := proc.Stat()
	memory, memoryErr := proc.Meminfo()
	interfaces, netErr := proc.NetDev()
	load, loadErr := proc.LoadAvg()
	cpus, cpuErr := proc.CPUInfo()
	if err := errors.Join(err, statErr, memoryErr, netErr, loadErr, cpuErr); err != nil || len(cpus) == 0 {
		return Machine{}, err
	}
	usage := cpuUsage(stat.CPUTotal)
	for i := range int64(len(stat.CPU)) {
		usage.PerCPU = append(usage.PerCPU, cpuUsage(stat.CPU[i]).Total)
	}
	maps.DeleteFunc(interfaces, func(name string, _ procfs.NetDevLine) bool { return innerInterface.MatchString(name) })
	total, free, available := *memory.MemTotalBytes, *memory.MemFreeBytes, *memory.MemAvailableBytes
	return Machine{
		Cores: len(stat.CPU), MHz: cpus[0].CPUMHz,
		MachineID: fileText("/etc/machine-id"), SystemUUID: fileText("/sys/class/dmi/id/product_uuid"),
		BootID:     fileText(filepath.Join(r.proc(), "sys/kernel/random/boot_id")),
		OnlineCPUs: fileText("/sys/devices/system/cpu/online"),
		BootTime:   time.Unix(int64(stat.BootTime), 0).UTC(),
		CPU:        usage, Load: load.Load1, MemoryTotal: total,
		Memory:  api.MemoryStats{Usage: total - free, WorkingSet: total - available},
		Network: interfaces.Total(),
	}, nil
}

func cpuUsage(c procfs.CPUStat) api.CPUStats {
	nanoseconds := func(seconds float64) uint64 { return uint64(seconds * float64(time.Second)) }
	user, system := c.User+c.Nice, c.System+c.IRQ+c.SoftIRQ
	return api.CPUStats{Total: nanoseconds(user + system + c.Steal), User: nanoseconds(user), System: nanoseconds(system)}
}
