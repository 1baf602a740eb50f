package eviction

import (
	"context"
	"slices"
	"time"

	"kubelet14/kubelet/status"
)

// Relieve releases a pod that was held, or evicts one of those that run, as they were at a time. It reports whether it did.
func (m *Manager) Relieve(ctx context.Context, pods []*status.Pod, at time.Time, meter Meter) (changed bool) {
	mayWait, ending := map[string]bool{}, false
	for _, p := range pods {
		mayWait[p.Name] = p.Desired != nil && !p.Plan.Finished && !IsCritical(p.Desired)
		ending = ending || p.IsLive() && m.Ending(p.Name)
	}
	changed = m.Release(mayWait)
	candidates := slices.DeleteFunc(slices.Clone(pods), func(p *status.Pod) bool {
		return !MayEvict(p) || p.Err != nil || p.Waits() || p.Plan.Finished || m.Verdict(p.Name).Message != ""
	})
	for _, p := range m.Wanted(at, ending) {
		if m.Evict(p, meter.Measure(ctx, candidates, p)) {
			return true
		}
	}
	return changed
}
