package node

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"kubelet14/api"
	"kubelet14/kubelet/eviction"
)

// Reader reads the facts of this machine.
type Reader struct {
	Proc       string // such as /proc
	RootDir    string // of the kubelet
	DockerRoot string // directory of Docker's images; empty if it may be on another machine
}

// Facts describe and measure a machine. Values that cannot be read are zero.
type Facts struct {
	Cores                         int
	MHz                           float64
	MachineID, SystemUUID, BootID string
	OnlineCPUs                    string // such as 0-3
	BootTime                      time.Time
	CPU                           api.CPUStats // since then
	Load                          float64      // of the last minute
	MemoryStats                   api.MemoryStats
	Network                       procfs.NetDevLine // the sum of its interfaces

	Memory       Amount // without swap; memory that the kernel can reclaim from its caches is available
	NodeFS       Amount // bytes of the file system of the root_dir
	NodeFSInodes Amount // zero where there is no limit, as with btrfs
	ImageFS      Amount // bytes of the file system of Docker's images
	PIDs         Amount // of processes and threads
}

// Amount says how much of a resource is left.
type Amount = eviction.Amount

// Reading returns the signals that are known.
func (f Facts) Reading() eviction.Reading {
	reading := eviction.Reading{
		eviction.MemoryAvailable: f.Memory, eviction.NodeFsAvailable: f.NodeFS, eviction.NodeFsInodesFree: f.NodeFSInodes,
		eviction.ImageFsAvailable: f.ImageFS, "pid.available": f.PIDs,
	}
	maps.DeleteFunc(reading, func(_ eviction.Signal, a Amount) bool { return a.Total == 0 })
	return reading
}

// innerInterface matches the loopback and the interfaces of Docker and of pod networks, whose traffic passes another
// interface too.
var innerInterface = regexp.MustCompile(`^(lo$|veth|docker|br-|k14-)`)

// Read reads the facts. The error names everything that cannot be read.
func (r Reader) Read() (f Facts, err error) {
	proc, err := procfs.NewFS(r.Proc)
	stat, statErr := proc.Stat()
	memory, memoryErr := proc.Meminfo()
	interfaces, netErr := proc.NetDev()
	load, loadErr := proc.LoadAvg()
	cpus, cpuErr := proc.CPUInfo()
	f.Cores, f.BootTime, f.CPU = len(stat.CPU), time.Unix(int64(stat.BootTime), 0).UTC(), cpuUsage(stat.CPUTotal)
	for _, i := range slices.Sorted(maps.Keys(stat.CPU)) { // an offline CPU leaves a gap in the numbers
		f.CPU.PerCPU = append(f.CPU.PerCPU, cpuUsage(stat.CPU[i]).Total)
	}
	if len(cpus) > 0 {
		f.MHz = cpus[0].CPUMHz
	}
	if memory.MemTotalBytes != nil && memory.MemFreeBytes != nil && memory.MemAvailableBytes != nil {
		total, used := *memory.MemTotalBytes, *memory.MemTotalBytes-*memory.MemFreeBytes
		f.Memory = Amount{Available: *memory.MemAvailableBytes, Total: total}
		f.MemoryStats = api.MemoryStats{Usage: used, WorkingSet: used - min(used, *cmp.Or(memory.InactiveFileBytes, new(uint64)))}
	}
	if load != nil {
		f.Load = load.Load1
	}
	maps.DeleteFunc(interfaces, func(name string, _ procfs.NetDevLine) bool { return innerInterface.MatchString(name) })
	f.Network = interfaces.Total()
	f.MachineID = fileText("/etc/machine-id")
	f.SystemUUID = cmp.Or(fileText("/sys/class/dmi/id/product_uuid"), f.MachineID)
	f.BootID, f.OnlineCPUs = fileText(filepath.Join(r.Proc, "sys/kernel/random/boot_id")), fileText("/sys/devices/system/cpu/online")
	f.PIDs = r.pids()
	var rootErr, imageErr error
	f.NodeFS, f.NodeFSInodes, rootErr = fileSystem(r.RootDir)
	if r.DockerRoot != "" {
		f.ImageFS, _, imageErr = fileSystem(r.DockerRoot)
	}
	return f, errors.Join(err, statErr, memoryErr, netErr, loadErr, cpuErr, rootErr, imageErr)
}

// pids counts processes and threads against the smaller of the kernel's two limits.
func (r Reader) pids() Amount {
	number := func(text string) uint64 { n, _ := strconv.ParseUint(text, 10, 64); return n }
	file := func(name string) string { return fileText(filepath.Join(r.Proc, name)) }
	limit := min(number(file("sys/kernel/pid_max")), number(file("sys/kernel/threads-max")))
	_, loadavg, _ := strings.Cut(file("loadavg"), "/") // 0.10 0.20 0.30 1/174 31110
	threads, _, _ := strings.Cut(loadavg, " ")
	return Amount{Available: limit - min(number(threads), limit), Total: limit}
}

func cpuUsage(c procfs.CPUStat) api.CPUStats {
	nanoseconds := func(seconds float64) uint64 { return uint64(seconds * float64(time.Second)) }
	user, system := nanoseconds(c.User+c.Nice), nanoseconds(c.System+c.IRQ+c.SoftIRQ)
	return api.CPUStats{Total: user + system + nanoseconds(c.Steal), User: user, System: system}
}

// fileSystem measures the file system of a path as df does: blocks reserved for root are neither available nor part of the
// total. Upstream counts them as used, so a large reserve looks like pressure.
func fileSystem(path string) (bytes, inodes Amount, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return Amount{}, Amount{}, fmt.Errorf("measure the file system of %q: %w", path, err)
	}
	size := uint64(cmp.Or(stat.Frsize, stat.Bsize))
	total := stat.Blocks - stat.Bfree + stat.Bavail
	info, err := os.Stat(path)
	if err != nil {
		return Amount{}, Amount{}, err
	}
	disk := info.Sys().(*syscall.Stat_t).Dev
	return Amount{Available: stat.Bavail * size, Total: total * size, Disk: disk}, Amount{Available: stat.Ffree, Total: stat.Files, Disk: disk}, nil
}

// fileText returns the trimmed text of a file, or "" if it cannot be read.
func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return string(bytes.TrimSpace(text))
}
