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
		case c == nil || !p.pod.Done(init, c):
			return init
		case p.pod.Manifest.RestartPolicy.Never == nil && (c.NetworkContainer != network.ID || c.StartedAt.Before(after)):
			return init
		}
		after = c.FinishedAt
	}
	return nil
}

// initialized reports whether an app container shows that the init containers are done: it
// has started after them. Docker may have lost them, as `docker container prune` removes them.
func (p *planner) initialized(network *Observed) bool {
	never := p.pod.Manifest.RestartPolicy.Never != nil
	for i := range p.pod.Init {
		// An edit that was undone has done other work since.
		c := p.newest(p.pod.Init[i].Name)
		if !never && c != nil && c.HasStarted() && c.Of.Hash != p.pod.Init[i].Hash {
			return false
		}
	}
	return slices.ContainsFunc(p.pod.Apps, func(app Container) bool {
		return slices.ContainsFunc(p.attempts[app.Name], func(c *Observed) bool {
			inNetwork := c.Of.Hash == app.Hash && c.NetworkContainer == network.ID && !c.StartedAt.Before(network.StartedAt)
			return c.HasStarted() && (never || inNetwork)
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
