// Package eviction decides what happens when the host runs short of memory or disk space: which pods may not start, and
// which pod is stopped for a while. Upstream: pkg/kubelet/eviction, which never evicts static pods, and never starts one
// that it rejected. Here every pod comes back.
//
//	every ten seconds                                the sync loop, for each pod
//	  a reading of the host ─▶ Observe ┐           ┌ Hold: may it start?
//	                           Release ├▶ Manager ◀┤
//	  what pods use ─▶ Wanted, Evict   ┘           └ Verdict: must it end?
//
// A reading below a threshold is a pressure. It starts a condition, which lasts until there has been no pressure for the
// transition period. Meanwhile a pod with no running container is held. If the pressure remains after unneeded images
// and containers were removed, pods are evicted one by one; after the condition they come back one by one. Nothing is
// written down: after a crash the first reading finds the pressure again.
//
// Not implemented: minimum reclaim, pid.available, notifications from cgroups.
package eviction

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/docker/go-units"
)

// Amount says how much of a resource is available, and how much there is in total.
type Amount struct {
	Available, Total uint64
	Disk             uint64 // device number, for a file system
}

// Reading is the result of one look at the host. Unknown signals are missing.
type Reading map[Signal]Amount

// Options are the settings of a Manager.
type Options struct {
	Hard, Soft, SoftGracePeriod *Values
	TransitionPeriod            time.Duration
	MaxPodGrace                 int // longest grace period of an evicted pod, in seconds, if only a soft threshold is met
}

// DefaultOptions returns upstream's defaults.
func DefaultOptions() Options {
	hard := map[Signal]string{MemoryAvailable: "100Mi", NodeFsAvailable: "10%", NodeFsInodesFree: "5%", ImageFsAvailable: "15%"}
	return Options{NewValues("<", hard), NewValues("<", map[Signal]string{}), NewValues("=", map[Signal]string{}), 5 * time.Minute, 0}
}

// The types of conditions.
const (
	MemoryPressure = "MemoryPressure"
	DiskPressure   = "DiskPressure"
)

// Condition is a state of the host.
type Condition struct {
	Type    string
	Met     bool
	Since   time.Time // when Met changed
	Message string    // why it is met
	lastMet time.Time
}

// Pressure is a threshold that the host has fallen below.
type Pressure struct {
	Signal  Signal
	OneDisk bool // Docker uses the file system of the root_dir, or it is unknown which one it uses
	hard    bool
	message string
}

// Manager holds the conditions of the host, and the pods that must not run. Its methods may be called concurrently.
type Manager struct {
	opts    Options
	Evicted func(signal string) // called for each eviction; must not block

	mu         sync.Mutex // guards the rest
	at         time.Time  // of the last reading
	reading    Reading
	pressures  []Pressure           // by the last reading
	since      map[string]time.Time // for each threshold that is met: since when
	conditions []Condition
	pods       map[string]*held  // by full name
	floors     map[Signal]uint64 // see Wanted
	ending     bool              // an evicted pod may still be running
	ended      time.Time         // when the last evicted pod was found to have ended
}

// NewManager returns a Manager without any pressure.
func NewManager(opts Options) *Manager {
	return &Manager{opts: opts, conditions: []Condition{{Type: MemoryPressure}, {Type: DiskPressure}},
		since: map[string]time.Time{}, pods: map[string]*held{}, floors: map[Signal]uint64{}, Evicted: func(string) {}}
}

// Observe updates the conditions from a reading. Nothing else changes them.
func (m *Manager) Observe(r Reading, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.reading, m.pressures = now, r, nil
	for _, signal := range signals {
		grace, _ := time.ParseDuration(m.opts.SoftGracePeriod.of[signal])
		m.compare("hard", signal, m.opts.Hard.of[signal], 0)
		m.compare("soft", signal, m.opts.Soft.of[signal], grace)
	}
	for i := range m.conditions {
		c := &m.conditions[i]
		p := slices.IndexFunc(m.pressures, func(p Pressure) bool { return (p.Signal == MemoryAvailable) == (c.Type == MemoryPressure) })
		switch {
		case p >= 0 && c.Met:
			c.lastMet = now
		case p >= 0:
			*c = Condition{c.Type, true, now, m.pressures[p].message, now}
		case c.Since.IsZero(), c.Met && now.Sub(c.lastMet) >= m.opts.TransitionPeriod:
			*c = Condition{c.Type, false, now, "", c.lastMet}
		}
	}
}

// compare records a pressure if the readings have been below a threshold for its grace period.
func (m *Manager) compare(kind string, signal Signal, threshold string, grace time.Duration) {
	key := kind + string(signal)
	have, known := m.reading[signal]
	if least, err := amount(threshold, have.Total); !known || err != nil || have.Available >= least {
		delete(m.since, key)
		return
	}
	m.since[key] = cmp.Or(m.since[key], m.at)
	if m.at.Sub(m.since[key]) < grace {
		return
	}
	images, known := m.reading[ImageFsAvailable]
	m.pressures = append(m.pressures, Pressure{signal, !known || images.Disk == m.reading[NodeFsAvailable].Disk, kind == "hard",
		fmt.Sprintf("%s is %s (%.1f%%), less than %s", signal, show(signal, int64(have.Available)), 100*float64(have.Available)/float64(have.Total), threshold)})
}

// show formats an amount: inodes as a number, anything else as bytes.
func show(signal Signal, n int64) string {
	switch {
	case n < 0:
		return "an unknown amount"
	case signal == NodeFsInodesFree:
		return fmt.Sprint(n)
	}
	return units.BytesSize(float64(n))
}

// DiskPressure reports whether the condition DiskPressure is met.
func (m *Manager) DiskPressure() bool { return m.Conditions()[1].Met }

// ImagePressure reports whether the disk with Docker's images was running short at the last reading.
func (m *Manager) ImagePressure() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.reading[ImageFsAvailable]
	return slices.ContainsFunc(m.pressures, func(p Pressure) bool {
		return p.Signal == ImageFsAvailable || p.Signal != MemoryAvailable && p.OneDisk && known
	})
}

// Conditions returns the conditions as of the last reading.
func (m *Manager) Conditions() []Condition {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.conditions)
}
