// Package node looks at the machine: what it is, and how much of its memory, disks and process numbers is left. Upstream
// has it in kubelet_node_status.go, in pkg/kubelet/stats and in cAdvisor.
package node

import (
	"context"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
)

const (
	roundInterval = 10 * time.Second
	askInterval   = 5 * time.Minute // between questions to Docker, which may be upgraded or moved
)

// Housekeeper looks at the machine every ten seconds, and then lets those act that make room. Every exported field but Act
// must be set.
//
//	facts ─▶ Pressure.Observe ─▶ conditions ─▶ Act: images are collected, pods are evicted
type Housekeeper struct {
	Reader   Reader                      // its DockerRoot is what Docker says
	Read     func(Reader) (Facts, error) // Reader.Read
	Info     func(context.Context) (dockertools.Info, error)
	Health   func() error // of the kubelet
	Pressure interface {
		Observe(eviction.Reading, time.Time)
		Conditions() []eviction.Condition
	}
	Note func(reason, message string) // records an event
	Act  []func(context.Context, Facts)

	asked time.Time // when Docker has last answered

	mu     sync.Mutex // guards the rest
	status Status
	unread string // the last error
}

// Status is what is known of a node.
type Status struct {
	Facts
	Docker     dockertools.Info // zero: it has not answered yet
	ReadAt     time.Time
	Conditions []Condition
}

// Run looks and lets act every ten seconds, until ctx is done.
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

// Look reads the facts and updates the conditions. It is called before the first sync, too: nothing must be started on a
// machine that has nothing left.
func (h *Housekeeper) Look(ctx context.Context) Facts {
	ctx, cancel := context.WithTimeout(ctx, roundInterval)
	defer cancel()
	if time.Since(h.asked) >= askInterval {
		if info, err := h.Info(ctx); err == nil { // else the sync loop says what is wrong with Docker
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
		glog.Warningf("what is left on this machine is not known: %v", err)
	}
	h.status.Facts, h.status.ReadAt = facts, time.Now()
	h.update()
	return facts
}

// Status returns what the last look has seen, and whether the kubelet is healthy now.
func (h *Housekeeper) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.update()
	return h.status
}

// update replaces the conditions, and tells of a pressure that begins or ends.
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
