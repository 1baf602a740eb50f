package plan

import "slices"

// The init containers run once for each network container: when one of them is edited, the pod gets a new network
// container. So whatever has started in a network shows how far they got there, even if somebody has removed their attempts,
// and no times are compared. With the restart policy never nothing starts twice, and their work counts in every network.

// nextInit returns the init container that runs or must run before the apps can start in this network,
// or nil. Each starts when the one before it has succeeded.
func (p *planner) nextInit(network *Observed) *Container {
	if len(p.pod.Init) == 0 || p.started(p.pod.Apps, network) {
		return nil
	}
	for i, init := range slices.Backward(p.pod.Init) {
		switch c := p.newest(init.Name); {
		case !p.started(p.pod.Init[i:i+1], network):
		case c == nil || !p.pod.Done(&init, c) || !p.counts(c, network):
			return &p.pod.Init[i]
		case i+1 < len(p.pod.Init):
			return &p.pod.Init[i+1]
		default:
			return nil
		}
	}
	return &p.pod.Init[0]
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
