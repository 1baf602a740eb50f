package eviction

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// maxWait is how long there must be no pressure until a pod comes back that is evicted again and again.
const maxWait = 60 * time.Minute

// endLimit is how long after its grace an evicted pod may still run until the next one is evicted: a container whose stop hangs
// must not keep the host from relief.
const endLimit = 30 * time.Second

// held is a pod that must not run, or was evicted before.
type held struct {
	why       plan.Problem // no message: it may run
	priority  int64
	grace     int // see plan.Verdict
	evictions int // in a row
	evicted   time.Time
	released  time.Time
}

// back returns when a pod may run again if no pressure comes, and the time without pressure that this takes.
func (m *Manager) back(h *held) (at time.Time, wait time.Duration) {
	first := max(m.opts.TransitionPeriod, time.Second) // else the time would not grow
	wait = min(first<<min(max(h.evictions-1, 0), 12), max(first, maxWait))
	for _, c := range m.conditions {
		if end := c.lastMet.Add(wait); end.After(at) {
			at = end
		}
	}
	return at, wait
}

// Hold returns why a pod of which nothing runs must not start; no message: it may.
func (m *Manager) Hold(pod string, priority int64, now time.Time) plan.Problem {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := cmp.Or(m.pods[pod], &held{})
	at, wait := m.back(h)
	i := slices.IndexFunc(m.conditions, func(c Condition) bool { return c.Met })
	if h.why.Message == "" && i >= 0 {
		m.pods[pod], h.priority = h, priority
		h.why = plan.Problem{Reason: api.ReasonNodePressure, Message: fmt.Sprintf(
			"it starts when the host has had no %s for %v: %s", m.conditions[i].Type, wait, m.conditions[i].Message)}
	}
	why := h.why
	if why.Message != "" && len(m.pressures) == 0 && at.After(now) {
		why.RetryAt = at
	}
	return why
}

// Verdict returns whether a pod has to end.
func (m *Manager) Verdict(pod string) (v plan.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.pods[pod]; h != nil && h.why.Reason == api.ReasonEvicted {
		v = plan.Verdict{Message: h.why.Message, Grace: h.grace}
	}
	return v
}

// Ending reports whether a pod of which something runs was evicted, and may still end in time.
func (m *Manager) Ending(pod string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.pods[pod]
	return h != nil && h.why.Reason == api.ReasonEvicted && m.at.Sub(h.evicted) < time.Duration(h.grace)*time.Second+endLimit
}

// WasEvicted reports whether a pod was evicted.
func (m *Manager) WasEvicted(pod *plan.Pod) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.pods[pod.FullName()], &held{}).evictions > 0
}

// Release lets one pod run again whose time has come by the last reading, that of the highest priority, and forgets all but
// those that may wait or end.
func (m *Manager) Release(mayWait map[string]bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := ""
	for pod, h := range m.pods {
		at, _ := m.back(h)
		switch due := h.why.Message != "" && len(m.pressures) == 0 && !at.After(m.at); {
		case !mayWait[pod]:
			delete(m.pods, pod)
		case due && (first == "" || cmp.Or(cmp.Compare(m.pods[first].priority, h.priority), strings.Compare(pod, first)) < 0):
			first = pod
		}
	}
	if first == "" {
		return false
	}
	m.pods[first].why, m.pods[first].released = plan.Problem{}, m.at
	glog.Infof("pod %s may run again", first)
	return true
}

// unread is a floor that the next reading sets.
const unread = math.MaxUint64

// Wanted returns the pressures of which one calls for an eviction now, the most urgent first. It is told whether a pod that was
// evicted still runs, and when that was looked at: only a later reading shows what its end has brought.
//
// On a disk an eviction frees little, and ends the writing. So a disk first has until the next reading to remove what nobody
// needs, and a second pod is evicted only if what is free has kept falling since the first has ended.
func (m *Manager) Wanted(looked time.Time, ending bool) (wanted []*Pressure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ending && !ending {
		m.ended = looked
	}
	m.ending = ending
	for i := range m.pressures {
		p := &m.pressures[i]
		free := m.reading[p.Signal].Available
		floor, evicted := m.floors[p.Signal]
		switch {
		case ending || m.at.Before(m.ended):
		case p.Signal == MemoryAvailable:
			wanted = append(wanted, p)
		case m.at.Equal(m.conditions[1].Since): // it begins
			clear(m.floors)
		case floor == unread:
			m.floors[p.Signal] = free
		case !evicted || free < floor-floor/100:
			wanted = append(wanted, p)
		}
	}
	return wanted
}

// Usage is what a pod uses of what a signal measures.
type Usage struct {
	Pod           string // full name
	Priority      int64
	Used, Request int64 // Used is -1 if it is not known; the request is of memory
	AtLeast       bool  // it uses more than Used
}

// order compares two pods: the first of all is evicted. For memory that is one that exceeds its request, of these one of the
// lowest priority, of these the one that exceeds it most. On a disk it is the largest writer, by what could be counted. Pods
// without figures come last.
func (p *Pressure) order(a, b Usage) int {
	most := cmp.Or(cmp.Compare(b.Used-b.Request, a.Used-a.Request), strings.Compare(a.Pod, b.Pod))
	class := func(u Usage) int {
		if u.Used < 0 {
			return 2
		}
		return max(0, cmp.Compare(u.Request+1, u.Used))
	}
	if p.Signal != MemoryAvailable {
		return most
	}
	return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.Priority, b.Priority), most)
}

// Evict evicts one of the pods, and reports whether there is one.
func (m *Manager) Evict(p *Pressure, pods []Usage) bool {
	if len(pods) == 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u := slices.MinFunc(pods, p.order)
	h := cmp.Or(m.pods[u.Pod], &held{})
	if m.at.Sub(h.released) > maxWait {
		h.evictions = 0
	}
	h.evictions++
	h.priority, h.grace, h.evicted = u.Priority, 1, m.at
	if !p.hard {
		h.grace = max(1, m.opts.MaxPodGrace)
	}
	_, wait := m.back(h)
	uses := show(p.Signal, u.Used)
	if u.AtLeast && u.Used >= 0 {
		uses = "at least " + uses
	}
	h.why = plan.Problem{Reason: api.ReasonEvicted, Message: fmt.Sprintf(
		"%s; this pod uses %s; it starts when the host has had no pressure for %v", p.message, uses, wait)}
	m.pods[u.Pod], m.ending = h, true
	for _, signal := range signals {
		m.floors[signal] = unread
	}
	m.Evicted(string(p.Signal))
	return true
}
