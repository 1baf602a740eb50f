package plan

import (
	"slices"

	"kubelet14/kubelet/dockertools"
)

// The init containers run once for each network container: when one of them is edited, the pod gets a new network
// container. So whatever has started in a network shows how far they got there, even if somebody has removed their attempts,
// and no times are compared. With the restart policy never nothing starts twice, and their work counts in every network.

// turn returns how many init containers have done what the start of the next one needs, in this network: an init container has
// succeeded, and a sidecar runs.
func (p *planner) turn(network *Observed) int {
	if p.started(p.pod.Apps, network) {
		return len(p.pod.Init)
	}
	for i, init := range slices.Backward(p.pod.Init) {
		switch c := p.newest(init.Name); {
		case !p.started(p.pod.Init[i:i+1], network):
		case c == nil || !p.passed(&init, c) || !p.counts(c, network):
			return i
		default:
			return i + 1
		}
	}
	return 0
}

// passed reports whether the newest attempt of an init container lets the next one start.
func (p *planner) passed(init *Container, newest *Observed) bool {
	if init.IsSidecar() {
		return newest.State == dockertools.StateRunning && (newest.StartupPassed || init.Spec.StartupProbe == nil)
	}
	return p.pod.Done(init, newest)
}

// started reports whether one of the containers has started in this network, so that the init containers
// before it are done. Those may be gone, after a `docker container prune`.
func (p *planner) started(containers []Container, network *Observed) bool {
	return slices.ContainsFunc(containers, func(want Container) bool {
		return slices.ContainsFunc(p.attempts[want.Name], func(c *Observed) bool {
			return c.HasStarted() && p.counts(c, network) && (c.Of.Hash == want.Hash || p.pod.startsOnce())
		})
	})
}

// counts reports whether the work of a container counts in this network.
func (p *planner) counts(c, network *Observed) bool {
	return c.NetworkContainer == network.ID || p.pod.startsOnce() && !p.pod.predates(c)
}

// initFailed reports whether an init container failed for good.
func (p *planner) initFailed() bool {
	failed := func(init Container) bool {
		c := p.newest(init.Name)
		return c != nil && p.pod.Done(&init, c) && c.Failed()
	}
	return !p.started(p.pod.Apps, &Observed{}) && slices.ContainsFunc(p.pod.Init, failed)
}
