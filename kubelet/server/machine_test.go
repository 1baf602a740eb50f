package server

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

// host is a machine of two cores. Change replaces files; an empty text removes one.
func host(change map[string]string) fs.FS {
	files := map[string]string{
		"proc/stat": `cpu  100 20 30 4000 50 6 7 8 9 1
cpu0 60 10 20 2000 20 3 4 5 0 0
cpu1 40 10 10 2000 30 3 3 3 0 0
intr 1 2 3
btime 1400000000
`,
		"proc/meminfo": "MemTotal:        1000 kB\nMemFree:          200 kB\nMemAvailable:     600 kB\nHugePages_Total:       0\n",
		"proc/net/dev": `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9000 90 9 9 0 0 0 0 9000 90 9 9 0 0 0 0
  eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0
  eth1: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0
docker0: 500 5 5 5 0 0 0 0 500 5 5 5 0 0 0 0
br-1234: 500 5 5 5 0 0 0 0 500 5 5 5 0 0 0 0
vethabc: 500 5 5 5 0 0 0 0 500 5 5 5 0 0 0 0
`,
		"proc/loadavg":                   "1.25 0.50 0.10 1/100 1234\n",
		"proc/cpuinfo":                   "processor\t: 0\ncpu MHz\t\t: 2599.998\n\nprocessor\t: 1\n",
		"proc/sys/kernel/random/boot_id": "a-boot\n",
		"etc/machine-id":                 "a-machine\n",
		"sys/class/dmi/id/product_uuid":  "a-system\n",
		"sys/devices/system/cpu/online":  "0-1\n",
		"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3400000\n",
	}
	fsys := fstest.MapFS{}
	for path, text := range files {
		if other, changed := change[path]; changed {
			text = other
		}
		if text != "" {
			fsys[path] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fsys
}

func TestAMachineSaysWhatItIs(t *testing.T) {
	full := machineInfo{NumCores: 2, CPUFrequency: 3400000, MemoryCapacity: 1000 << 10, MachineID: "a-machine", SystemUUID: "a-system", BootID: "a-boot"}
	for _, row := range []struct {
		without string
		change  func(*machineInfo)
	}{
		{"", func(*machineInfo) {}},
		{"etc/machine-id", func(m *machineInfo) { m.MachineID = "" }},
		{"sys/class/dmi/id/product_uuid", func(m *machineInfo) { m.SystemUUID = "" }},
		{"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", func(m *machineInfo) { m.CPUFrequency = 2599998 }},
	} {
		want := full
		row.change(&want)
		got, err := readMachine(host(map[string]string{row.without: ""}))
		if got != want || err != nil {
			t.Errorf("without %q: %+v, %v, want %+v", row.without, got, err, want)
		}
	}
}

func TestAMachineIsMeasured(t *testing.T) {
	now := time.Unix(1500000000, 0)
	got, err := measureMachine(host(nil), now)
	if err != nil {
		t.Fatal(err)
	}
	const tick = 10_000_000 // nanoseconds
	want := containerInfo{
		Name: "/",
		Spec: containerSpec{
			CreationTime: time.Unix(1400000000, 0).UTC(),
			HasCPU:       true, CPU: cpuSpec{Limit: 1024, Mask: "0-1"},
			HasMemory: true, Memory: memoryLimit{Limit: 1000 << 10}, HasNetwork: true,
		},
		Stats: []containerStats{{
			Timestamp: now,
			CPU: cpuStats{
				Usage:       api.CPUStats{Total: 171 * tick, PerCPU: []uint64{102 * tick, 69 * tick}, User: 120 * tick, System: 43 * tick},
				LoadAverage: 1250,
			},
			Memory:  api.MemoryStats{Usage: 800 << 10, WorkingSet: 400 << 10},
			Network: api.NetworkStats{RxBytes: 1100, RxPackets: 11, RxErrors: 1, RxDropped: 2, TxBytes: 2200, TxPackets: 22, TxErrors: 3, TxDropped: 4},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAMachineThatCannotBeReadSaysWhere(t *testing.T) {
	for _, row := range []struct{ path, text, says string }{
		{"proc/stat", "", "proc/stat"},
		{"proc/stat", "cpu 1 2 3\n", "/proc/stat: cpu: 3 columns, want"},
		{"proc/stat", "cpu 1 2 3 4 5 6 7 x\n", `/proc/stat: cpu: strconv.ParseUint: parsing "x"`},
		{"proc/stat", "btime 1\n", "names no core"},
		{"proc/meminfo", "", "proc/meminfo"},
		{"proc/meminfo", "MemTotal: 10 kB\n", "no MemFree"},
		{"proc/meminfo", "MemTotal: x kB\n", "/proc/meminfo: MemTotal:"},
		{"proc/net/dev", "", "proc/net/dev"},
		{"proc/net/dev", "eth0: 1 2 3\n", "/proc/net/dev: eth0: 3 columns, want"},
		{"proc/net/dev", "eth0: x 2 3 4 5 6 7 8 9 10 11 12\n", `/proc/net/dev: eth0: strconv.ParseUint: parsing "x"`},
	} {
		if _, err := measureMachine(host(map[string]string{row.path: row.text}), time.Now()); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s %q: %v, want an error about %q", row.path, row.text, err, row.says)
		}
	}
}

// TestThisMachineCanBeRead reads the files of the host that the test is on.
func TestThisMachineCanBeRead(t *testing.T) {
	info, err := readMachine(hostFiles)
	if err != nil || info.NumCores == 0 || info.MemoryCapacity == 0 || info.BootID == "" {
		t.Errorf("it is %+v, %v", info, err)
	}
	measured, err := measureMachine(hostFiles, time.Now())
	if err != nil || measured.Stats[0].CPU.Usage.Total == 0 || len(measured.Stats[0].CPU.Usage.PerCPU) != info.NumCores {
		t.Errorf("it does %+v, %v", measured, err)
	}
}
