package node

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/prometheus/procfs"
)

// Reader reads the facts of this machine.
type Reader struct {
	Proc       string // "" for /proc
	RootDir    string // of the kubelet
	DockerRoot string // the directory of Docker's images; empty when it may be on another machine
}

// Amount is how much of something is left. A Total of 0 means that this is not known.
type Amount struct{ Available, Total uint64 }

// Facts is what is left of what runs out. Memory and file systems are in bytes.
type Facts struct {
	Memory       Amount // without swap; what the kernel can take back from its caches is available
	NodeFS       Amount // the file system of the root_dir
	NodeFSInodes Amount // zero where a file system has no limit, such as btrfs
	ImageFS      Amount // the file system of Docker's images
	PIDs         Amount // of processes and threads
}

// Read reads the facts. What cannot be read is zero, and named in the error.
func (r Reader) Read() (f Facts, err error) {
	var errs [4]error
	f.Memory, errs[0] = r.memory()
	f.NodeFS, f.NodeFSInodes, errs[1] = fileSystem(r.RootDir)
	if r.DockerRoot != "" {
		f.ImageFS, _, errs[2] = fileSystem(r.DockerRoot)
	}
	f.PIDs, errs[3] = r.pids()
	return f, errors.Join(errs[:]...)
}

func (r Reader) proc() string { return cmp.Or(r.Proc, procfs.DefaultMountPoint) }

func (r Reader) memory() (Amount, error) {
	proc, err := procfs.NewFS(r.proc())
	if err != nil {
		return Amount{}, err
	}
	memory, err := proc.Meminfo()
	if err != nil || memory.MemTotalBytes == nil || memory.MemAvailableBytes == nil {
		return Amount{}, fmt.Errorf("read the memory of this machine: %w", cmp.Or(err, errors.New("meminfo has no MemTotal or no MemAvailable")))
	}
	return Amount{*memory.MemAvailableBytes, *memory.MemTotalBytes}, nil
}

// fileSystem measures the file system of a path as df does: what is reserved for root counts neither as available nor as
// part of the total. Upstream takes it as used, and a large reserve for pressure.
func fileSystem(path string) (bytes, inodes Amount, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return Amount{}, Amount{}, fmt.Errorf("measure the file system of %q: %w", path, err)
	}
	used := stat.Blocks - stat.Bfree
	size := uint64(cmp.Or(stat.Frsize, stat.Bsize))
	return Amount{stat.Bavail * size, (used + stat.Bavail) * size}, Amount{stat.Ffree, stat.Files}, nil
}

// pids counts against the smaller of the kernel's two limits.
func (r Reader) pids() (Amount, error) {
	var maxPID, maxThreads, running uint64
	for path, n := range map[string]*uint64{"sys/kernel/pid_max": &maxPID, "sys/kernel/threads-max": &maxThreads} {
		var err error
		if *n, err = strconv.ParseUint(fileText(filepath.Join(r.proc(), path)), 10, 64); err != nil {
			return Amount{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	var load [3]float64
	var runnable int
	if _, err := fmt.Sscanf(fileText(filepath.Join(r.proc(), "loadavg")), "%f %f %f %d/%d", &load[0], &load[1], &load[2], &runnable, &running); err != nil {
		return Amount{}, fmt.Errorf("read loadavg: %w", err)
	}
	limit := min(maxPID, maxThreads)
	return Amount{limit - min(limit, running), limit}, nil
}

// fileText is empty when the file cannot be read.
func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return string(bytes.TrimSpace(text))
}
