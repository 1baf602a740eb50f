package server

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

// clockTick is the unit of /proc/stat: user space sees 100 a second on every
// architecture, whatever the kernel counts with.
const clockTick = uint64(time.Second / 100)

// cpuTimes is how long the cores were at work, in nanoseconds since boot.
type cpuTimes struct{ total, user, system uint64 }

type cpuReading struct {
	all   cpuTimes
	cores []uint64 // the total of each
	boot  time.Time
}

// readCPU reads /proc/stat.
func readCPU(host fs.FS) (cpuReading, error) {
	var reading cpuReading
	lines, err := fields(host, "proc/stat")
	if err != nil {
		return reading, err
	}
	for _, line := range lines {
		switch name := line[0]; {
		case name == "cpu":
			reading.all, err = parseTimes(line[1:])
		case strings.HasPrefix(name, "cpu"):
			var core cpuTimes
			core, err = parseTimes(line[1:])
			reading.cores = append(reading.cores, core.total)
		case name == "btime" && len(line) == 2:
			var seconds int64
			seconds, err = strconv.ParseInt(line[1], 10, 64)
			reading.boot = time.Unix(seconds, 0).UTC()
		}
		if err != nil {
			return reading, fmt.Errorf("read /proc/stat: %s: %w", line[0], err)
		}
	}
	if len(reading.cores) == 0 {
		return reading, fmt.Errorf("read /proc/stat: it names no core")
	}
	return reading, nil
}

// parseTimes reads the columns user, nice, system, idle, iowait, irq, softirq and
// steal. Idle and iowait are no work.
func parseTimes(columns []string) (cpuTimes, error) {
	n, err := numbers(columns, 8)
	if err != nil {
		return cpuTimes{}, err
	}
	user, system := n[0]+n[1], n[2]+n[5]+n[6]
	return cpuTimes{(user + system + n[7]) * clockTick, user * clockTick, system * clockTick}, nil
}

// readMemory reads /proc/meminfo, in bytes.
func readMemory(host fs.FS) (map[string]uint64, error) {
	lines, err := fields(host, "proc/meminfo")
	if err != nil {
		return nil, err
	}
	memory := map[string]uint64{}
	for _, line := range lines {
		if len(line) < 2 {
			continue
		}
		n, err := strconv.ParseUint(line[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read /proc/meminfo: %s %w", line[0], err)
		}
		memory[strings.TrimSuffix(line[0], ":")] = n << 10
	}
	for _, name := range []string{"MemTotal", "MemFree", "MemAvailable"} {
		if _, ok := memory[name]; !ok {
			return nil, fmt.Errorf("read /proc/meminfo: it has no %s", name)
		}
	}
	return memory, nil
}

var inner = regexp.MustCompile(`^(lo$|veth|docker|br-)`)

// readNetwork adds up the interfaces in /proc/net/dev, without the one that leads back
// and Docker's own: what goes through those goes through another one too.
func readNetwork(host fs.FS) (api.NetworkStats, error) {
	var sum api.NetworkStats
	data, err := fs.ReadFile(host, "proc/net/dev")
	if err != nil {
		return sum, err
	}
	for line := range strings.Lines(string(data)) {
		name, counters, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || inner.MatchString(name) {
			continue // the two lines of the heading have no colon
		}
		n, err := numbers(strings.Fields(counters), 12)
		if err != nil {
			return sum, fmt.Errorf("read /proc/net/dev: %s: %w", name, err)
		}
		sum.Add(api.NetworkStats{
			RxBytes: n[0], RxPackets: n[1], RxErrors: n[2], RxDropped: n[3],
			TxBytes: n[8], TxPackets: n[9], TxErrors: n[10], TxDropped: n[11],
		})
	}
	return sum, nil
}

// readFrequency is the highest of the first core in kHz, or what it runs at now.
func readFrequency(host fs.FS) uint64 {
	if kHz, err := strconv.ParseUint(word(host, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), 10, 64); err == nil {
		return kHz
	}
	lines, _ := fields(host, "proc/cpuinfo")
	for _, line := range lines {
		if line[0] == "cpu" && len(line) == 4 && line[1] == "MHz" {
			MHz, _ := strconv.ParseFloat(line[3], 64)
			return uint64(MHz * 1000)
		}
	}
	return 0
}

// fields are the lines of a file, without those that are empty.
func fields(host fs.FS, path string) ([][]string, error) {
	data, err := fs.ReadFile(host, path)
	if err != nil {
		return nil, err
	}
	var lines [][]string
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines, nil
}

// word is what a file of one line says; nothing when it cannot be read.
func word(host fs.FS, path string) string {
	data, _ := fs.ReadFile(host, path)
	return strings.TrimSpace(string(data))
}

// numbers are the first n columns; there may be more, with newer kernels.
func numbers(columns []string, n int) ([]uint64, error) {
	if len(columns) < n {
		return nil, fmt.Errorf("%d columns, want %d or more", len(columns), n)
	}
	values := make([]uint64, n)
	for i := range values {
		var err error
		if values[i], err = strconv.ParseUint(columns[i], 10, 64); err != nil {
			return nil, err
		}
	}
	return values, nil
}
