package plan

import "slices"

// nextInit returns the init container whose work has to be done before apps can start in this
// network, or nil if there is none. Each init container begins when the one before it has
// succeeded. What they did counts for one network container, except with the restart policy
// never, under which nothing starts twice.
func (p *planner) nextInit(network *Observed) *Container {
	if p.initialized(network) {
		return nil
	}
	after := network.StartedAt
	for i := range p.pod.Init {
		init := &p.pod.Init[i]
		c := p.newest(init.Name)
		switch {
		case c == nil && p.started(p.pod.Init[i+1:], network): // Docker has lost it
			continue
		case c == nil || !p.pod.Done(init, c):
			return init
		case !p.pod.startsOnce() && (c.NetworkContainer != network.ID || c.StartedAt.Before(after)):
			return init
		}
		after = c.FinishedAt
	}
	return nil
}

// initialized reports whether an app container shows that the init containers are done.
func (p *planner) initialized(network *Observed) bool {
	edited := func(init Container) bool { // and if the edit was undone, it has done other work since
		c := p.newest(init.Name)
		return c != nil && c.HasStarted() && c.Of.Hash != init.Hash && !p.pod.startsOnce()
	}
	return !slices.ContainsFunc(p.pod.Init, edited) && p.started(p.pod.Apps, network)
}

// started reports whether one of the containers has started in this network, so that the init
// containers before it are done. Docker may have lost those, as by `docker container prune`.
func (p *planner) started(containers []Container, network *Observed) bool {
	return slices.ContainsFunc(containers, func(want Container) bool {
		return slices.ContainsFunc(p.attempts[want.Name], func(c *Observed) bool {
			inNetwork := c.Of.Hash == want.Hash && c.NetworkContainer == network.ID && !c.StartedAt.Before(network.StartedAt)
			return c.HasStarted() && (inNetwork || p.pod.startsOnce())
		})
	})
}

// initFailed reports whether an init container has failed that never starts again.
func (p *planner) initFailed() bool {
	failed := func(init Container) bool {
		c := p.newest(init.Name)
		return c != nil && p.pod.Done(&init, c) && c.Failed()
	}
	return !p.initialized(&Observed{}) && slices.ContainsFunc(p.pod.Init, failed)
}
