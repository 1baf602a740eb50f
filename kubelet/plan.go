package kubelet

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/kubelet/dockertools"
)

// actionKind is what can be done to a container.
type actionKind int

const (
	createAction actionKind = iota
	startAction
	stopAction
	hookAction // postStart
	removeAction
)

func (k actionKind) String() string {
	return [...]string{"create", "start", "stop", "hook", "remove"}[k]
}

// done is the word for an action that was carried out.
func (k actionKind) done() string {
	return [...]string{"created", "started", "stopped", "ran the postStart hook of", "removed"}[k]
}

// event is the word for it in the events.
func (k actionKind) event() string {
	return [...]string{"created", "started", "stopped", "postStart", "removed"}[k]
}

// action is one thing to do to a container, and why.
type action struct {
	kind      actionKind
	name      dockertools.NameParts
	id        string // empty when an earlier step of the same plan creates the container
	reason    string
	netID     string // whose network it joins or has joined; empty for the network container that this plan creates
	lifecycle string // see dockertools.LabelLifecycle

	// For a creation alone:
	want      *wantedContainer
	quickEnds int       // in a row before this attempt
	pull      bool      // its image, first, although it may be present
	due       time.Time // since when it is to be created: a pull before that does not count

	// For a stop alone:
	paused bool   // it can run no hook
	cause  string // api.ReasonUnhealthy when a probe wants it; empty for the kubelet's own reasons
}

// what is what an event says of it.
func (a *action) what() string { return fmt.Sprintf("attempt %d: %s", a.name.Attempt, a.reason) }

// podPlan is what to do to one pod. The actions of a step do not depend on each
// other and may run side by side; a step needs those before it.
type podPlan struct {
	steps [][]action
	// next is when to look again even if nothing happens; zero when there is no
	// such time.
	next time.Time
	// notRunning says for each container that does not run, and is not about to,
	// why. One that has done its work is not among them.
	notRunning []trouble
	// finished: every app container has run for the last time.
	finished bool
}

// limits are the rules of the kubelet that a plan depends on.
type limits struct {
	restartBackoff time.Duration // longest wait between two attempts
	deadContainers int           // dead attempts to keep of each container, 0 = all
	deadTTL        time.Duration // youngest age at which a dead attempt may go
}

// plan compares what is wanted of one pod with what is seen of it and says what
// to do, in which order, and why. It is the heart of the kubelet and has no
// effects: a worker runs what it says, -dry_run prints it, tests ask it.
//
// want is nil when the pod is not wanted any more. seen holds every container of
// the pod's full name, whatever its UID, by container name and attempt.
//
// Of each container only the newest attempt counts, and a replacement is created
// before what it replaces is stopped. Both follow from Docker being the only
// memory: the replacement is the note that says "stop the old one, start this",
// for whoever comes after a kill -9; and when it cannot be created, because its
// image is missing, what runs is left running.
func plan(want *wantedPod, seen []seenContainer, lim limits, now time.Time) podPlan {
	p := planner{lim: lim, now: now}
	if want == nil {
		p.remove(seen, "its pod is no longer wanted")
		return p.podPlan
	}
	p.want = want
	p.attempts = map[string][]*seenContainer{}
	p.lastAttempt = map[string]int{}
	var strays []seenContainer
	names := want.names()
	for i, c := range seen {
		if c.Of.UID != want.UID || !slices.Contains(names, c.Of.Name) {
			strays = append(strays, c)
			continue
		}
		p.lastAttempt[c.Of.Name] = max(p.lastAttempt[c.Of.Name], c.Of.Attempt)
		if c.State != dockertools.StateRemoving { // neither live nor dead, but its name is taken
			p.attempts[c.Of.Name] = append(p.attempts[c.Of.Name], &seen[i])
		}
	}
	p.remove(strays, "its pod no longer has such a container")

	if p.finished = p.nothingLeftToRun(); p.finished {
		p.finish()
	} else {
		p.converge()
	}
	p.removeSurplus()
	return p.podPlan
}

// names are the names of the pod's containers, the network container last.
func (w *wantedPod) names() []string {
	var names []string
	for i := range w.apps {
		names = append(names, w.apps[i].name)
	}
	return append(names, w.net.name)
}

// planner holds what one call of plan works with.
type planner struct {
	podPlan
	lim         limits
	now         time.Time
	want        *wantedPod
	attempts    map[string][]*seenContainer // by container name, oldest first, without those being removed
	lastAttempt map[string]int              // by container name, with those being removed
}

// newest is the attempt that counts, or nil.
func (p *planner) newest(name string) *seenContainer {
	all := p.attempts[name]
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func (p *planner) step(actions []action) {
	if len(actions) > 0 {
		p.steps = append(p.steps, actions)
	}
}

// gaveUp notes that a container is not started again.
func (p *planner) gaveUp(c *seenContainer) {
	p.notRunning = append(p.notRunning, trouble{container: c.Of.Name, reason: c.endReason(), message: c.verdict() + ", and is not started again"})
}

// on is an action on a container that is there.
func on(kind actionKind, c *seenContainer, reason string) action {
	return action{
		kind: kind, name: c.Of, id: c.ID, reason: reason,
		netID: c.NetworkContainer, lifecycle: c.Lifecycle, paused: c.State == dockertools.StatePaused,
	}
}

// remove stops containers, the network container last, and removes them.
func (p *planner) remove(containers []seenContainer, reason string) {
	var stopApps, stopNet, remove []action
	for i := range containers {
		c := &containers[i]
		if c.State == dockertools.StateRemoving {
			continue
		}
		if c.State.Live() {
			stop := on(stopAction, c, reason)
			if c.isNetwork() {
				stopNet = append(stopNet, stop)
			} else {
				stopApps = append(stopApps, stop)
			}
		}
		remove = append(remove, on(removeAction, c, reason))
	}
	p.step(stopApps)
	p.step(stopNet)
	p.step(remove)
}

// removeSurplus removes dead attempts beyond those to keep, and creations that a
// newer one has overtaken before they were started. The newest attempt stays at
// any limit: it is the memory of how often and how quickly the container ended.
func (p *planner) removeSurplus() {
	var remove []action
	for _, name := range p.want.names() {
		all := p.attempts[name]
		kept := 0
		for i, c := range slices.Backward(all) {
			switch {
			case c.fresh() && i < len(all)-1:
				remove = append(remove, on(removeAction, c, "a newer attempt took its place before its start"))
			case !c.dead():
			case p.lim.deadContainers == 0 || kept < p.lim.deadContainers:
				kept++
			default:
				if ended, _ := c.end(); p.now.Sub(ended) >= p.lim.deadTTL {
					remove = append(remove, on(removeAction, c, fmt.Sprintf("the %d newest dead containers of its kind are kept", kept)))
				}
			}
		}
	}
	p.step(remove)
}
