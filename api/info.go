package api

import (
	"errors"
	"time"
)

// ErrNotFound is wrapped by the errors about a pod, a container or an attempt that is
// not there, or does not run. Their texts say what to do.
var ErrNotFound = errors.New("not found")

// LogOptions says which part of what a container has printed is wanted.
type LogOptions struct {
	Tail       int  // so many lines from the end; -1: all that is kept
	Follow     bool // and what comes later
	Timestamps bool // each line begins with its time, as RFC 3339 with nanoseconds
	Previous   bool // of the attempt before the newest
	Stdout     bool
	Stderr     bool
}

// Load says how much a kubelet has to do.
type Load struct {
	Workers int // pods that have a worker, at work or waiting for its time
	Waiting int // pods with work that has not begun
	Pulls   int // images that are being pulled
	Queued  int // of these, those that wait for their turn by -registry_qps
}

// ContainerStats is one measurement of a running container. The JSON of its parts is
// cAdvisor's, and that of the network Docker's too.
type ContainerStats struct {
	Time        time.Time
	CPU         CPUStats
	Memory      MemoryStats
	Network     NetworkStats // of the pod: all its containers share it
	CPUShares   int64        // what the container may have; 0: Docker's default
	MemoryLimit int64        // bytes; 0: none
	Created     time.Time
	Image       string
	ID          string // Docker's
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
	Usage      uint64 `json:"usage"`       // with what the kernel keeps of files
	WorkingSet uint64 `json:"working_set"` // without what it could give up at once
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

// Add counts another interface in.
func (n *NetworkStats) Add(other NetworkStats) {
	n.RxBytes += other.RxBytes
	n.RxPackets += other.RxPackets
	n.RxErrors += other.RxErrors
	n.RxDropped += other.RxDropped
	n.TxBytes += other.TxBytes
	n.TxPackets += other.TxPackets
	n.TxErrors += other.TxErrors
	n.TxDropped += other.TxDropped
}
