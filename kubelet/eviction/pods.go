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

// maxWait is the longest time without pressure that a pod must wait for, however often it is evicted.
const maxWait = 60 * time.Minute

// endLimit is how long after its grace period an evicted pod may hold up the next eviction: a container that cannot be stopped
// must not keep the host from getting relief.
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

// back returns when a pod may run again if there is no new pressure, and how long it must wait without pressure.
func (m *Manager) back(h *held) (at time.Time, wait time.Duration) {
	first := max(m.opts.TransitionPeriod, time.Second) // doubling 0 would not grow
	wait = min(first<<min(max(h.evictions-1, 0), 12), max(first, maxWait))
	for _, c := range m.conditions {
		if end := c.lastMet.Add(wait); end.After(at) {
			at = end
		}
	}
	return at, wait
}

// Hold returns why a pod with no running container must not start. An empty message means that it may.
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

// Verdict returns whether a pod must end.
func (m *Manager) Verdict(pod string) (v plan.Verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := m.pods[pod]; h != nil && h.why.Reason == api.ReasonEvicted {
		v = plan.Verdict{Message: h.why.Message, Grace: h.grace}
	}
	return v
}

// Ending reports whether a pod that still runs was evicted and has time left to end.
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

// Release lets one pod run again, the one with the highest priority among those that were due at the last reading, and
// reports whether there was one. It forgets all pods that are not in mayWait.
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

// unread marks a floor that the next reading will set.
const unread = math.MaxUint64

// Wanted returns the pressures that call for an eviction now, most urgent first. The caller says whether an evicted pod still
// runs, and when it looked: only a later reading shows what the end of that pod freed.
//
// On a disk an eviction frees little, but it ends the writing. So until the next reading unneeded images may be
// removed, and a second pod is evicted only if free space has kept falling since the first one ended.
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
		case m.at.Equal(m.conditions[1].Since): // the condition begins
			clear(m.floors)
		case floor == unread:
			m.floors[p.Signal] = free
		case !evicted || free < floor-floor/100:
			wanted = append(wanted, p)
		}
	}
	return wanted
}

// Usage is how much a pod uses of the resource that a signal measures.
type Usage struct {
	Pod           string // full name
	Priority      int64
	Used, Request int64 // Used is -1 if unknown; Request is the request for memory
	AtLeast       bool  // it uses Used or more
}

// order sorts the pod to evict first. For memory, pods that exceed their request come first, then pods of lower priority, then
// those that exceed it most. For a disk, the largest writer comes first, as far as it could be measured. Pods without figures
// come last.
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

// Evict evicts one of the pods. It reports false if there are none.
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
