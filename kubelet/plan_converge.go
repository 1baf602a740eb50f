package kubelet

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// nothingLeftToRun says that every app container has run for the last time. A
// pod without app containers is its network container alone and never finishes.
func (p *planner) nothingLeftToRun() bool {
	for i := range p.want.apps {
		c := p.newest(p.want.apps[i].name)
		if c == nil || !p.want.ranForTheLastTime(&p.want.apps[i], c) {
			return false
		}
	}
	return len(p.want.apps) > 0
}

// ranForTheLastTime judges the newest attempt of a container by the restart
// policy. With "never" each container starts once in its UID's life, whatever
// ended it, and even when the manifest was edited since; with "onFailure" exit 0
// is success even when the container was asked to stop.
func (w *wantedPod) ranForTheLastTime(want *wantedContainer, newest *seenContainer) bool {
	if !newest.dead() || !newest.ran() {
		return false
	}
	switch policy := w.manifest.RestartPolicy; {
	case policy.Never != nil:
		return true
	case policy.OnFailure != nil:
		return !newest.failed() && newest.Of.Hash == want.hash
	}
	return false
}

// finish ends a pod with nothing left to run: an old attempt that somebody
// started by hand is stopped, and no network container and no port is kept.
func (p *planner) finish() {
	var stop []action
	for i := range p.want.apps {
		newest := p.newest(p.want.apps[i].name)
		stop = append(stop, p.stopOthers(newest.Of.Name, newest.ID, newest.Of.Attempt)...)
		if newest.failed() {
			p.gaveUp(newest)
		}
	}
	p.step(stop)
	var nets []seenContainer
	for _, c := range p.attempts[p.want.net.name] {
		nets = append(nets, *c)
	}
	p.remove(nets, "its pod has nothing left to run")
	delete(p.attempts, p.want.net.name)
}

// converge brings the pod to: a network container, every app container joined to
// it, and one live container of each. The steps come in this order:
//
//  1. create what is missing or to be replaced, the network container first;
//  2. stop what is replaced, the network container last;
//  3. start what is created, the network container first;
//  4. run the postStart hooks of what is started.
//
// Where nothing has to be stopped, the network container starts while the others
// are still being created.
func (p *planner) converge() {
	var createNet, createApps, stopApps, stopNet, startNet, startApps, hooks []action

	net, create := p.decideNet()
	if create != nil {
		createNet = append(createNet, *create)
	}
	if net.id == "" && create == nil {
		return // the network container waits for its next attempt, and all others with it
	}
	if !net.live {
		startNet = append(startNet, action{kind: startAction, name: net.name, id: net.id, reason: "it is the pod's network container and does not run"})
	}
	for i := range p.want.apps {
		app := &p.want.apps[i]
		newest := p.newest(app.name)
		create := p.decideApp(app, newest, net)
		switch {
		case create != nil:
			createApps = append(createApps, *create)
			startApps = append(startApps, action{kind: startAction, name: create.name, reason: create.reason})
			if create.name.AwaitsHook {
				hooks = append(hooks, action{kind: hookAction, name: create.name, reason: "it has just been started", netID: net.id, lifecycle: create.lifecycle})
			}
			stopApps = append(stopApps, p.stopOthers(app.name, "", create.name.Attempt)...)
		case newest != nil:
			if newest.fresh() {
				startApps = append(startApps, on(startAction, newest, "it was created and never started"))
			}
			if newest.Unhealthy != "" && newest.State == dockertools.StateRunning {
				stop := on(stopAction, newest, newest.Unhealthy)
				stop.cause = api.ReasonUnhealthy
				stopApps = append(stopApps, stop)
			} else if newest.Of.AwaitsHook && (newest.fresh() || newest.State == dockertools.StateRunning) {
				hooks = append(hooks, on(hookAction, newest, "its postStart has not succeeded yet"))
			}
			stopApps = append(stopApps, p.stopOthers(app.name, newest.ID, newest.Of.Attempt)...)
		}
	}
	stopNet = p.stopOthers(p.want.net.name, net.id, net.name.Attempt)

	p.step(createNet)
	if len(stopApps)+len(stopNet) == 0 {
		p.step(append(startNet, createApps...))
	} else {
		p.step(createApps)
		p.step(stopApps)
		p.step(stopNet)
		p.step(startNet)
	}
	p.step(startApps)
	p.step(hooks)
}

// network is the network container that the pod's app containers are to join.
type network struct {
	name    dockertools.NameParts
	id      string // empty while it is not created
	live    bool
	started time.Time // zero while it does not run
}

// decideNet says which network container the pod is to have, and what creates it
// when it is not there. With neither an id nor a creation the pod waits.
func (p *planner) decideNet() (network, *action) {
	want := &p.want.net
	newest := p.newest(want.name)
	reason, quickEnds := "the pod has no network container", 0
	if newest != nil {
		switch {
		case newest.State.Live() && (newest.Of.Hash == want.hash || p.mustStay(newest)):
			return network{newest.Of, newest.ID, true, newest.StartedAt}, nil
		case newest.Of.Hash != want.hash:
			reason = "the pod's ports, host name or network container image have changed"
		case newest.fresh():
			return network{name: newest.Of, id: newest.ID}, nil
		default:
			n, _, ok := p.mayRestart(want.name, newest)
			if !ok {
				return network{}, nil
			}
			reason, quickEnds = "the network container "+newest.verdict(), n
		}
	}
	create := p.create(want, reason, quickEnds)
	return network{name: create.name}, create
}

// mustStay says that a network container may not be replaced, because a container
// that may never be started again lives in its network.
func (p *planner) mustStay(net *seenContainer) bool {
	return p.want.manifest.RestartPolicy.Never != nil && slices.ContainsFunc(p.want.apps, func(app wantedContainer) bool {
		c := p.newest(app.name)
		return c != nil && c.State.Live() && c.NetworkContainer == net.ID
	})
}

// decideApp says what creates the next attempt of an app container, or nil when
// the newest one is right, is over, or has to wait.
func (p *planner) decideApp(want *wantedContainer, newest *seenContainer, net network) *action {
	due := p.want.since
	create := func(quickEnds int, reason string) *action {
		a := p.create(want, reason, quickEnds)
		a.due = due
		a.netID = net.id
		// A new container for an old wish, as after a crash, takes the image it had.
		isNew := newest == nil || newest.Of.Hash != want.hash
		a.pull = want.pullsAt(isNew)
		return a
	}
	switch {
	case newest == nil:
		return create(0, "the pod has no such container yet")

	case p.want.manifest.RestartPolicy.Never != nil && newest.ran():
		if newest.dead() && newest.failed() {
			p.gaveUp(newest)
		}
		return nil

	case newest.Of.Hash != want.hash:
		return create(0, "its part of the manifest has changed")

	case newest.dead():
		if p.want.ranForTheLastTime(want, newest) { // with exit 0, or the case above had it
			return nil
		}
		quickEnds, at, ok := p.mayRestart(want.name, newest)
		if !ok {
			return nil
		}
		due = at
		return create(quickEnds, "it "+newest.verdict())

	case newest.State == dockertools.StatePaused:
		return nil

	case newest.NetworkContainer != net.id:
		return create(newest.QuickEnds, "the pod has a new network container")

	// `docker restart` of a network container keeps its id and makes a new network.
	case newest.State.Live() && newest.StartedAt.Before(net.started):
		return create(newest.QuickEnds, "the pod's network container was restarted after it")
	}
	return nil
}

// mayRestart says whether a dead container may have its next attempt now. If not,
// the pod is looked at again when it may.
func (p *planner) mayRestart(name string, c *seenContainer) (quickEnds int, at time.Time, ok bool) {
	ended, quickEnds := c.end()
	at = ended.Add(restartDelay(quickEnds, p.lim.restartBackoff))
	if !at.After(p.now) {
		return quickEnds, at, true
	}
	if p.next.IsZero() || at.Before(p.next) {
		p.next = at
	}
	p.notRunning = append(p.notRunning, trouble{container: name, reason: api.ReasonBackOff, next: at,
		message: fmt.Sprintf("%s; it ended quickly %d times in a row, and is started again at %s", c.verdict(), quickEnds, at.Local().Format(time.TimeOnly))})
	return quickEnds, at, false
}

func (p *planner) create(want *wantedContainer, reason string, quickEnds int) *action {
	name := dockertools.NameParts{
		Name:        want.name,
		Hash:        want.hash,
		PodFullName: p.want.fullName,
		UID:         p.want.UID,
		Attempt:     p.lastAttempt[want.name] + 1,
		AwaitsHook:  want.awaitsHook(),
	}
	return &action{kind: createAction, name: name, want: want, reason: reason, quickEnds: quickEnds, lifecycle: want.lifecycle}
}

// stopOthers stops every live attempt but the one that counts, which has this id, or
// none while it is still to be created. Two are never left alive side by side, not even
// two of one number: a creation that Docker carries out late may be the second.
func (p *planner) stopOthers(name, id string, attempt int) []action {
	var stop []action
	for _, c := range p.attempts[name] {
		if c.State.Live() && c.ID != id {
			stop = append(stop, on(stopAction, c, fmt.Sprintf("attempt %d takes its place", attempt)))
		}
	}
	return stop
}
