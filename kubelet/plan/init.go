package plan

import "slices"

// The work of the init containers counts for one network container, which was made for them: if
// one of them is edited, the pod gets another. So what has started in a network shows what has
// been done there, whichever attempts somebody has removed, and no time has to be compared. With
// the restart policy never, under which nothing starts twice, the work counts in every network.

// nextInit returns the init container that runs or has to run before the apps can start in this
// network, or nil if there is none. Each begins when the one before it has succeeded.
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

// started reports whether one of the containers has started in this network, so that the init
// containers before it are done. Docker may have lost those, as by `docker container prune`.
func (p *planner) started(containers []Container, network *Observed) bool {
	return slices.ContainsFunc(containers, func(want Container) bool {
		return slices.ContainsFunc(p.attempts[want.Name], func(c *Observed) bool {
			return c.HasStarted() && p.counts(c, network) && (c.Of.Hash == want.Hash || p.pod.startsOnce())
		})
	})
}

// counts reports whether what a container has done counts in this network.
func (p *planner) counts(c, network *Observed) bool {
	return c.NetworkContainer == network.ID || p.pod.startsOnce()
}

// initFailed reports whether an init container has failed that never starts again.
func (p *planner) initFailed() bool {
	failed := func(init Container) bool {
		c := p.newest(init.Name)
		return c != nil && p.pod.Done(&init, c) && c.Failed()
	}
	return !p.started(p.pod.Apps, &Observed{}) && slices.ContainsFunc(p.pod.Init, failed)
}
