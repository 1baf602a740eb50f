package plan

import (
	"slices"

	"kubelet14/api"
)

// With the restart policy never, a container that has started is not replaced, whatever happens to
// the manifest or the network, unless a person restarts its pod. There is nothing to do then, so the
// status says why.

// notRestarted reports what is wrong with a container that is never restarted. The network is nil if it was removed.
func (p *planner) notRestarted(c, network *Observed) {
	switch {
	case c.Terminated() && c.Failed():
		problem := c.Exit()
		problem.Message += ", and is not started again"
		p.Problems = append(p.Problems, problem)
	case p.pod.startsOnce() && c.Of.Hash != p.pod.Container(c.Of.Name).Hash:
		p.report(c, edited)
	case c.State.Live() && network != nil && (c.NetworkContainer != network.ID || p.restarted(network)):
		p.report(c, "it has no network since its network container ended, and with the restart policy never it is not started again")
	}
}

const edited = "the manifest was edited after the pod had started, and with the restart policy never the old version runs; " +
	"`kubelet14 restart` runs the new one"

// report adds a problem that stays.
func (p *planner) report(c *Observed, message string) {
	p.Problems = append(p.Problems, Problem{Container: c.Of.Name, Reason: api.ReasonNeverRestarted, Message: message})
}

// editedTooLate reports whether the manifest was edited after an init container, which is not restarted, had
// started. The containers that have not started then never do.
func (p *planner) editedTooLate() bool {
	return p.pod.startsOnce() && slices.ContainsFunc(p.pod.Init, func(init Container) bool {
		c := p.newest(init.Name)
		return c != nil && c.HasStarted() && !p.pod.predates(c) && c.Of.Hash != init.Hash
	})
}

// reportLateEdit reports why a container does not start after such an edit.
func (p *planner) reportLateEdit(want *Container, newest, network *Observed) {
	if newest != nil && newest.NeverStarted() && newest.NetworkContainer == network.ID {
		p.report(newest, edited)
		return
	}
	p.Problems = append(p.Problems, Problem{
		Container: want.Name, Reason: api.ReasonCannotCreate, Message: "cannot be created: the manifest was edited after an init container had started, " +
			"which is not started again; undo the edit, or run the new version with `kubelet14 restart`",
	})
}
