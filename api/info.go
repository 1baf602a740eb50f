package api

import (
	"errors"
	"io"
	"reflect"
	"time"
)

// ErrNotFound is wrapped by the errors about a pod, a container or an attempt that does not exist or does not run.
var ErrNotFound = errors.New("not found")

// LogOptions select a part of a container's output.
type LogOptions struct {
	Tail       int       // lines from the end; -1: all that Docker has
	Since      time.Time // only lines from this time on; zero: all
	Follow     bool      // and what comes later
	Timestamps bool      // each line begins with its time, as RFC 3339 with nanoseconds
	Previous   bool      // of the attempt before the newest
	Stdout     bool
	Stderr     bool
}

// Streams are what a command in a container reads and writes.
type Streams struct {
	Stdin          io.Reader           // nil: the command has no input; after its end Stdin may still be read, until it ends itself
	Stdout, Stderr io.Writer           // written by one goroutine; with Terminal all output goes to Stdout
	Terminal       bool                // the command runs in a terminal
	Resize         <-chan TerminalSize // the sizes of the terminal; nil: Docker's
}

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct{ Rows, Columns uint16 }

// Load is how much a kubelet has to do.
type Load struct {
	Workers int       // pods that have a worker
	Waiting int       // pods with work that has not begun
	Pulls   int       // images that are being pulled
	Queued  int       // of these, those that wait for -registry_qps
	Listed  time.Time // of the last list of the containers; zero: there was none
}

// ContainerStats is one measurement of a running container. The JSON of its parts is
// cAdvisor's, and that of the network also Docker's.
type ContainerStats struct {
	Time        time.Time
	CPU         CPUStats
	Memory      MemoryStats
	Network     NetworkStats // of the pod: all its containers share it
	CPUShares   int64        // 0: Docker's default
	MemoryLimit int64        // bytes; 0: none
	Created     time.Time
	Image       string
	ID, Name    string // Docker's
}

// CPUStats is time in nanoseconds, since the container began.
type CPUStats struct {
	Total  uint64   `json:"total"`
	PerCPU []uint64 `json:"per_cpu_usage,omitempty"`
	User   uint64   `json:"user"`
	System uint64   `json:"system"`
}

// MemoryStats is in bytes.
type MemoryStats struct {
	Usage      uint64 `json:"usage"`       // with the kernel's cache of files
	WorkingSet uint64 `json:"working_set"` // without the inactive part of that cache
}

// NetworkStats counts since the pod's network container began.
type NetworkStats struct {
	RxBytes   uint64 `json:"rx_bytes"`
	RxPackets uint64 `json:"rx_packets"`
	RxErrors  uint64 `json:"rx_errors"`
	RxDropped uint64 `json:"rx_dropped"`
	TxBytes   uint64 `json:"tx_bytes"`
	TxPackets uint64 `json:"tx_packets"`
	TxErrors  uint64 `json:"tx_errors"`
	TxDropped uint64 `json:"tx_dropped"`
}

// Add adds the counts of another interface.
func (n *NetworkStats) Add(other NetworkStats) {
	sum, more := reflect.ValueOf(n).Elem(), reflect.ValueOf(other)
	for i := range sum.NumField() {
		sum.Field(i).SetUint(sum.Field(i).Uint() + more.Field(i).Uint())
	}
}
