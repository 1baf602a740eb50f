package plan

import (
	"cmp"
	"slices"

	"kubelet14/kubelet/dockertools"
)

const restartAsked = "somebody has asked for a restart of its pod"

// replaceNetwork returns why a network container must be replaced, running or not; empty if it need not.
func (p *planner) replaceNetwork(network *Observed) string {
	switch {
	case p.pod.predates(network):
		return restartAsked
	case network.Of.Hash != p.pod.Network.Hash:
		return "the pod's ports, names or network container image have changed"
	case cmp.Or(network.Labels[dockertools.LabelNetwork], p.limits.PodNetwork) != p.limits.PodNetwork: // none in the host's network
		return "-pod_network has changed"
	case p.hasOtherInit(network):
		return "the pod's init containers have changed"
	case network.State.Live() && !network.isConnected():
		return "the network container was disconnected from its network"
	case network.State.Live() && p.restarted(network):
		return "the network container was restarted, which made a new network"
	}
	return ""
}

// restarted reports whether somebody restarted a network container, for instance with `docker restart`.
// It has the same id, but the containers that joined it have lost their network.
func (p *planner) restarted(network *Observed) bool { return !network.FinishedAt.IsZero() }

// hasOtherInit reports whether a network container was made for other init containers.
func (p *planner) hasOtherInit(network *Observed) bool {
	return !p.pod.startsOnce() && network.Labels[dockertools.LabelInit] != p.pod.InitHash()
}

// inUse reports whether a live container that is never restarted has joined a network container, which then must stay.
func (p *planner) inUse(network *Observed) bool {
	return p.pod.startsOnce() && slices.ContainsFunc(p.pod.InitAndApps(), func(app Container) bool {
		c := p.newest(app.Name)
		return c != nil && c.State.Live() && !app.IsSidecar() && !p.pod.predates(c) && c.NetworkContainer == network.ID
	})
}
