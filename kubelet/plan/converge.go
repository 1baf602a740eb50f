package plan

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// converge plans for one network container and one live container of each app, joined to
// it. The order of the steps is
//
//  1. create what is missing or replaced, the network container first;
//  2. stop what is replaced, the network container last;
//  3. start what was created, the network container first.
//
// If nothing has to be stopped, the network container starts while the apps are created.
func (p *planner) converge() {
	var createNetwork, startNetwork, createApps, stopApps, startApps []Action
	network, create := p.decideNetwork()
	if network == nil {
		return // it backs off, and every other container waits for it
	}
	if create != nil {
		createNetwork = []Action{*create}
	}
	if !network.State.Live() {
		startNetwork = []Action{on(Start, network, "the pod's network container does not run")}
	}
	for i := range p.pod.Apps {
		app := &p.pod.Apps[i]
		newest := p.newest(app.Name)
		create := p.decideApp(app, newest, network)
		switch {
		case create != nil:
			createApps = append(createApps, *create)
			start := *create
			start.Kind, start.Container, start.Crashes, start.PulledSince = Start, nil, 0, time.Time{}
			startApps = append(startApps, start)
			stopApps = append(stopApps, p.stopOthers(app.Name, "", create.Name.Attempt)...)
		case newest != nil:
			if newest.NeverStarted() {
				startApps = append(startApps, on(Start, newest, "it was created and never started"))
			}
			if newest.Unhealthy != "" && newest.State == dockertools.StateRunning {
				stop := on(Stop, newest, newest.Unhealthy)
				stop.Unhealthy = true
				stopApps = append(stopApps, stop)
			}
			stopApps = append(stopApps, p.stopOthers(app.Name, newest.ID, newest.Of.Attempt)...)
		}
	}
	stopNetwork := p.stopOthers(api.NetworkContainerName, network.ID, network.Of.Attempt)

	p.step(createNetwork)
	if len(stopApps)+len(stopNetwork) == 0 {
		p.step(append(startNetwork, createApps...))
	} else {
		p.step(createApps)
		p.step(stopApps)
		p.step(stopNetwork)
		p.step(startNetwork)
	}
	p.step(startApps)
}

// decideNetwork returns the pod's network container, and the action that creates it unless
// it exists. It returns nil while the network container backs off.
func (p *planner) decideNetwork() (*Observed, *Action) {
	want, newest := &p.pod.Network, p.newest(api.NetworkContainerName)
	reason, crashes := "the pod has no network container", 0
	switch {
	case newest == nil:
	case newest.State.Live() && (newest.Of.Hash == want.Hash || p.inUse(newest)):
		return newest, nil
	case newest.Of.Hash != want.Hash:
		reason = "the pod's ports, host name or network container image have changed"
	case newest.NeverStarted():
		return newest, nil
	default:
		var due time.Time
		if due, crashes = p.nextAttempt(newest); due.After(p.now) {
			return nil, nil
		}
		reason = "the network container " + newest.Exit().Message
	}
	create := p.create(want, reason, crashes)
	return &Observed{Owned: dockertools.Owned{Of: create.Name}}, create
}

// inUse reports whether a live container that is never started again is joined to a
// network container, which then must not be replaced.
func (p *planner) inUse(network *Observed) bool {
	return p.pod.Manifest.RestartPolicy.Never != nil && slices.ContainsFunc(p.pod.Apps, func(app Container) bool {
		c := p.newest(app.Name)
		return c != nil && c.State.Live() && c.NetworkContainer == network.ID
	})
}

// decideApp returns what creates the next attempt of an app container, or nil if the
// newest attempt is as desired, is done, or backs off.
func (p *planner) decideApp(want *Container, newest *Observed, network *Observed) *Action {
	create := func(reason string, crashes int, due time.Time) *Action {
		a := p.create(want, reason, crashes)
		a.NetworkID = network.ID
		if want.pulls(newest) {
			a.PulledSince = due
		}
		return a
	}
	never := p.pod.Manifest.RestartPolicy.Never != nil
	switch {
	case newest == nil:
		return create("the pod has no such container yet", 0, p.pod.Since)
	case never && newest.HasStarted():
		p.notRestarted(newest)
		return nil
	case newest.Of.Hash != want.Hash:
		return create("its part of the manifest has changed", 0, p.pod.Since)
	case p.pod.Done(want, newest):
		return nil
	case newest.Terminated():
		due, crashes := p.nextAttempt(newest)
		if due.After(p.now) {
			return nil
		}
		return create("it "+newest.Exit().Message, crashes, due)
	case newest.State == dockertools.StatePaused:
		return nil
	case newest.NetworkContainer != network.ID:
		return create("the pod has a new network container", newest.QuickEnds, p.pod.Since)
	// `docker restart` of a network container keeps its id and makes a new network.
	case newest.State.Live() && newest.StartedAt.Before(network.StartedAt):
		return create("the pod's network container was restarted after it", newest.QuickEnds, p.pod.Since)
	}
	return nil
}

// create returns the creation of the next attempt of a container.
func (p *planner) create(want *Container, reason string, crashes int) *Action {
	name := dockertools.NameParts{
		Name: want.Name, Hash: want.Hash, PodFullName: p.pod.FullName, UID: p.pod.UID, Attempt: p.last[want.Name] + 1,
	}
	return &Action{Kind: Create, Name: name, Container: want, Reason: reason, Crashes: crashes, Lifecycle: want.Lifecycle}
}

// nextAttempt returns when a terminated container may have its next attempt, and the
// number of crashes before that. A time in the future is also a problem and a time to plan
// again.
func (p *planner) nextAttempt(c *Observed) (due time.Time, crashes int) {
	ended, crashes := c.End()
	due = ended.Add(RestartDelay(crashes, p.limits.MaxBackoff))
	if due.After(p.now) {
		if p.Next.IsZero() || due.Before(p.Next) {
			p.Next = due
		}
		p.Problems = append(p.Problems, Problem{Container: c.Of.Name, Reason: api.ReasonBackOff, RetryAt: due,
			Message: fmt.Sprintf("%s; it ended soon after its start %d times in a row, next start at %s",
				c.Exit().Message, crashes, due.Local().Format(time.TimeOnly))})
	}
	return due, crashes
}

// RestartDelay returns how long to wait before the next attempt after some crashes in a
// row: 0 after the first, then 1 s, 2 s, 4 s and so on, up to limit. In 2014 a crashing
// container was started again at every sync, for ever.
func RestartDelay(crashes int, limit time.Duration) time.Duration {
	if crashes < 2 {
		return 0
	}
	return min(time.Second<<min(crashes-2, 30), limit)
}
