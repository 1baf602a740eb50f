// Package node describes the machine, and measures how much of its memory, disks and process numbers is left. Upstream does
// this in kubelet_node_status.go, pkg/kubelet/stats and cAdvisor.
package node

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
)

const (
	roundInterval = 10 * time.Second
	askInterval   = 5 * time.Minute // how often Docker is asked for its Info: it may be upgraded or moved
)

// Housekeeper looks at the machine every ten seconds, and then calls the functions that free space or memory. Every exported
// field but Act must be set.
//
//	facts ─▶ Pressure.Observe ─▶ conditions ─▶ Act: images are collected, pods are evicted
type Housekeeper struct {
	Reader   Reader                      // Docker's Info sets its DockerRoot
	Read     func(Reader) (Facts, error) // Reader.Read
	Info     func(context.Context) (dockertools.Info, error)
	Health   func() error // of the kubelet
	Pressure interface {
		Observe(eviction.Reading, time.Time)
		Conditions() []eviction.Condition
	}
	Note func(reason, message string) // records an event
	Act  []func(context.Context, Facts)

	asked time.Time // when Docker last answered

	mu     sync.Mutex // guards the rest
	status Status
	unread string // the last error
}

// Status is the state of a node at the last look.
type Status struct {
	Facts
	Docker     dockertools.Info // zero: it has not answered yet
	ReadAt     time.Time
	Conditions []Condition
}

// OnHost reports whether Docker runs on the host that the kubelet sees. If not, or if it is not known yet, the addresses and
// network interfaces are not those of Docker's host: the kubelet is in a container that has its own, or Docker is elsewhere.
func (s Status) OnHost() bool { return s.Docker.RootDir != "" }

// Run looks and then calls each Act, every ten seconds until ctx is done.
func (h *Housekeeper) Run(ctx context.Context) {
	tick := time.NewTicker(roundInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		facts := h.Look(ctx)
		for _, act := range h.Act {
			act(ctx, facts)
		}
	}
}

// Look reads the facts and updates the conditions. It is also called before the first sync, so that nothing is started on
// a machine that has no room.
func (h *Housekeeper) Look(ctx context.Context) Facts {
	ctx, cancel := context.WithTimeout(ctx, roundInterval)
	defer cancel()
	if time.Since(h.asked) >= askInterval {
		if info, err := h.Info(ctx); err == nil { // otherwise the sync loop reports Docker's problem
			if host, _ := os.Hostname(); info.Name != host && h.asked.IsZero() {
				glog.Warningf("Docker runs on host %q and this kubelet on %q, where probes may not reach the pods: in a container give it --network=host", info.Name, host)
			}
			h.Reader.DockerRoot, h.asked = info.RootDir, time.Now()
			h.mu.Lock()
			h.status.Docker = info
			h.mu.Unlock()
		}
	}
	facts, err := h.Read(h.Reader)
	h.Pressure.Observe(facts.Reading(), time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := h.unread; err == nil {
		h.unread = ""
	} else if h.unread = err.Error(); h.unread != last {
		glog.Warningf("cannot measure this machine completely: %v", err)
	}
	h.status.Facts, h.status.ReadAt = facts, time.Now()
	h.update()
	return facts
}

// Status returns the result of the last look, with the kubelet's health as of now.
func (h *Housekeeper) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.update()
	return h.status
}

// update replaces the conditions, and logs when a pressure begins or ends.
func (h *Housekeeper) update() {
	all := conditions(h.Health(), h.status.Facts, h.Pressure.Conditions())
	for i := range all {
		now, before := &all[i], Condition{}
		if h.status.Conditions != nil {
			before = h.status.Conditions[i]
		}
		if now.Since, now.ReadAt = before.Since, h.status.ReadAt; now.Status == before.Status {
			continue
		}
		now.Since = time.Now()
		if now.Pressure() {
			glog.Warningf("node: %s: %s", now.Type, now.Message)
			h.Note(now.Type, now.Message)
		} else if before.Pressure() {
			glog.Infof("node: %s has ended", now.Type)
			h.Note(now.Type, "it has ended")
		}
	}
	h.status.Conditions = all
}
