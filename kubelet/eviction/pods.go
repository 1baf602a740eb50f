package eviction

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// held is a pod that must not run.
type held struct {
	why      plan.Problem
	priority int64
}

// back returns when a pod may run again if no pressure comes, and how long there must be none.
func (m *Manager) back() (at time.Time, wait time.Duration) {
	wait = m.opts.TransitionPeriod
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
	at, wait := m.back()
	i := slices.IndexFunc(m.conditions, func(c Condition) bool { return c.Met })
	if h.why.Message == "" && i >= 0 {
		h.priority, h.why.Reason = priority, api.ReasonNodePressure
		h.why.Message = fmt.Sprintf("it starts when the host has had no %s for %v: %s", m.conditions[i].Type, wait, m.conditions[i].Message)
		m.pods[pod] = h
	}
	why := h.why
	if why.Message != "" && len(m.pressures) == 0 && at.After(now) {
		why.RetryAt = at
	}
	return why
}

// Release lets one pod run again whose time has come, that of the highest priority, and forgets those that are not desired.
func (m *Manager) Release(now time.Time, desired func(pod string) bool) (pod string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.pods, func(pod string, _ *held) bool { return !desired(pod) })
	for name, h := range m.pods {
		at, _ := m.back()
		due := len(m.pressures) == 0 && !at.After(now)
		if due && (pod == "" || cmp.Or(cmp.Compare(m.pods[pod].priority, h.priority), strings.Compare(name, pod)) < 0) {
			pod = name
		}
	}
	if pod != "" {
		glog.Infof("pod %s may start: the host has no pressure any more", pod)
		delete(m.pods, pod)
	}
	return pod
}
