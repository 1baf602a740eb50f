package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// on returns an action on an existing container.
func on(kind Kind, c *Observed, reason string) Action {
	turn, _ := strconv.Atoi(c.Labels[dockertools.LabelSidecar])
	if c.IsNetwork() {
		turn = math.MaxInt
	}
	return Action{
		Kind: kind, Name: c.Of, ID: c.ID, Reason: reason, NetworkID: c.NetworkContainer, Paused: c.State == dockertools.StatePaused,
		Lifecycle: c.Labels[dockertools.LabelLifecycle], Grace: c.Labels[dockertools.LabelGrace], turn: turn,
	}
}

// remove stops and removes containers.
func (p *planner) remove(containers []*Observed, reason string) {
	var remove []Action
	for _, c := range containers {
		if c.State != dockertools.StateRemoving {
			remove = append(remove, on(Remove, c, reason))
		}
	}
	p.stop(containers, reason)
	p.step(remove)
}

// stop stops the containers that are live.
func (p *planner) stop(containers []*Observed, reason string) {
	var stop []Action
	for _, c := range containers {
		if c.State.Live() {
			stop = append(stop, on(Stop, c, reason))
		}
	}
	p.stopInTurn(stop)
}

// stopInTurn stops the sidecars after the others, the last one first, and the network container at the end.
func (p *planner) stopInTurn(stop []Action) {
	byTurn := map[int][]Action{}
	for _, a := range stop {
		byTurn[a.turn] = append(byTurn[a.turn], a)
	}
	for _, turn := range slices.Sorted(maps.Keys(byTurn)) {
		p.step(byTurn[turn])
	}
}

// finish plans for a pod whose app containers are all done. Its network container is removed, so that the
// pod holds no host port and no address.
func (p *planner) finish() {
	const done = "all containers of its pod are done"
	for _, c := range p.pod.InitAndApps() {
		if newest := p.newest(c.Name); newest != nil && !c.IsSidecar() {
			p.notRestarted(newest, nil)
		}
	}
	p.stop(slices.DeleteFunc(slices.Clone(p.own), (*Observed).IsNetwork), done)
	p.remove(p.attempts[api.NetworkContainerName], done)
	delete(p.attempts, api.NetworkContainerName)
}

// stopOthers stops every live attempt of a container except the newest, which may not be created yet. An
// attempt that started after the newest is killed at once.
func (p *planner) stopOthers(newest *Observed) (stop []Action) {
	for _, c := range p.attempts[newest.Of.Name] {
		if c.State.Live() && c.ID != newest.ID {
			a := on(Stop, c, fmt.Sprintf("attempt %d replaces it", newest.Of.Attempt))
			if newest.State.Live() && c.StartedAt.After(newest.StartedAt) {
				a.Grace = "0"
			}
			stop = append(stop, a)
		}
	}
	return stop
}

// removeDead removes dead attempts beyond the number to keep, and attempts that were replaced before they
// started. The newest attempt always stays: its labels hold the number of crashes.
func (p *planner) removeDead() {
	var remove []Action
	for _, want := range p.pod.Containers() {
		kept := 0
		for _, c := range slices.Backward(p.attempts[want.Name]) {
			at, _ := c.End()
			switch {
			case c.NeverStarted() && c != p.newest(want.Name):
				remove = append(remove, on(Remove, c, "a newer attempt replaced it before it started"))
			case c.NeverStarted() && (p.Finished || p.pod.IsInit(want.Name) && want.Name != p.Init):
				remove = append(remove, on(Remove, c, "it no longer has to run"))
			case !c.Terminated():
			case p.limits.MaxDeadContainers == 0 || kept < p.limits.MaxDeadContainers:
				kept++
			case p.now.Sub(at) >= p.limits.MinDeadAge:
				remove = append(remove, on(Remove, c, fmt.Sprintf("only the newest dead attempts are kept (%d)", kept)))
			}
		}
	}
	p.step(remove)
}
