package server

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

// hostFiles are those of this host, in which the kernel says what it is and does.
var hostFiles = os.DirFS("/")

// machineInfo is what a machine is, as cAdvisor's API v1 says it. What the host does not
// tell is empty.
type machineInfo struct {
	NumCores       int    `json:"num_cores"`
	CPUFrequency   uint64 `json:"cpu_frequency_khz"`
	MemoryCapacity uint64 `json:"memory_capacity"` // bytes
	MachineID      string `json:"machine_id"`
	SystemUUID     string `json:"system_uuid"`
	BootID         string `json:"boot_id"`
}

// readMachine says what the host is whose files these are.
func readMachine(host fs.FS) (machineInfo, error) {
	cpu, err := readCPU(host)
	if err != nil {
		return machineInfo{}, err
	}
	memory, err := readMemory(host)
	if err != nil {
		return machineInfo{}, err
	}
	return machineInfo{
		NumCores:       len(cpu.cores),
		CPUFrequency:   readFrequency(host),
		MemoryCapacity: memory["MemTotal"],
		MachineID:      word(host, "etc/machine-id"),
		SystemUUID:     word(host, "sys/class/dmi/id/product_uuid"),
		BootID:         word(host, "proc/sys/kernel/random/boot_id"),
	}, nil
}

// measureMachine says what the host does.
func measureMachine(host fs.FS, now time.Time) (containerInfo, error) {
	cpu, err := readCPU(host)
	if err != nil {
		return containerInfo{}, err
	}
	memory, err := readMemory(host)
	if err != nil {
		return containerInfo{}, err
	}
	network, err := readNetwork(host)
	if err != nil {
		return containerInfo{}, err
	}
	load, _, _ := strings.Cut(word(host, "proc/loadavg"), " ")
	average, _ := strconv.ParseFloat(load, 64)
	return containerInfo{
		Name: "/",
		Spec: containerSpec{
			CreationTime: cpu.boot,
			HasCPU:       true,
			CPU:          cpuSpec{Limit: usualShares, Mask: word(host, "sys/devices/system/cpu/online")},
			HasMemory:    true,
			Memory:       memoryLimit{Limit: memory["MemTotal"]},
			HasNetwork:   true,
		},
		Stats: []containerStats{{
			Timestamp: now,
			CPU: cpuStats{
				Usage:       api.CPUStats{Total: cpu.all.total, PerCPU: cpu.cores, User: cpu.all.user, System: cpu.all.system},
				LoadAverage: int(average * 1000),
			},
			Memory:  api.MemoryStats{Usage: memory["MemTotal"] - memory["MemFree"], WorkingSet: memory["MemTotal"] - memory["MemAvailable"]},
			Network: network,
		}},
	}, nil
}
