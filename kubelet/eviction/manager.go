// Package eviction decides what a host does without when its memory or a disk runs short: which pods may not start, and
// which one has to end for a time. Upstream: pkg/kubelet/eviction, which never evicts static pods, and never starts one
// that it has rejected. Here every pod comes back.
//
//	every ten seconds                                the sync loop, for each pod
//	  a reading of the host ─▶ Observe ┐           ┌ Hold: may it start?
//	                           Release ├▶ Manager ◀┤
//	  what pods use ─▶ Wanted, Evict   ┘           └ Verdict: has it to end?
//
// A reading below a threshold is a pressure, and begins a condition, which lasts until there was no pressure for the
// transition period. Meanwhile a pod of which nothing runs is held. If there is still pressure after what nobody needs was
// removed, one pod after the other is evicted. After the condition the pods come back one by one. Nothing is written
// down: after a crash the first reading finds the pressure again.
//
// Left out: minimum reclaim, pid.available, the notifications of cgroups.
package eviction

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/docker/go-units"
)

// Amount is how much of something is available, and how much there is.
type Amount struct {
	Available, Total uint64
	Disk             uint64 // the number of the file system, if it is one
}

// Reading is what one look at the host has found. A signal that is not known is missing.
type Reading map[Signal]Amount

// Options are the settings of a Manager.
type Options struct {
	Hard, Soft, SoftGracePeriod *Values
	TransitionPeriod            time.Duration
	MaxPodGrace                 int // the most seconds that an evicted pod has to end, if only a soft threshold is met
}

// DefaultOptions returns the settings of upstream.
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

// Pressure is a threshold that is met.
type Pressure struct {
	Signal  Signal
	OneDisk bool // Docker writes to the file system of the root_dir, or where it writes is not known
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
	since      map[string]time.Time // when a threshold was first met that is met now
	conditions []Condition
	pods       map[string]*held  // by full name
	floors     map[Signal]uint64 // see Wanted
	ending     bool              // an evicted pod may still run
	ended      time.Time         // when the last one was seen to have ended
}

// NewManager returns a Manager that knows of no pressure yet.
func NewManager(opts Options) *Manager {
	return &Manager{opts: opts, conditions: []Condition{{Type: MemoryPressure}, {Type: DiskPressure}},
		since: map[string]time.Time{}, pods: map[string]*held{}, floors: map[Signal]uint64{}, Evicted: func(string) {}}
}

// Observe takes in a reading. Nothing else changes the conditions.
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

// compare notes a pressure if the reading meets a threshold, and has done so for the grace period.
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

// show writes an amount, of inodes as a number.
func show(signal Signal, n int64) string {
	switch {
	case n < 0:
		return "an unknown amount"
	case signal == NodeFsInodesFree:
		return fmt.Sprint(n)
	}
	return units.BytesSize(float64(n))
}

// DiskPressure reports whether this condition is met.
func (m *Manager) DiskPressure() bool { return m.Conditions()[1].Met }

// ImagePressure reports whether by the last reading the disk of Docker's images is one that runs short.
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
