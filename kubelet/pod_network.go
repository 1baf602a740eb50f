package kubelet

import (
	"time"

	"kubelet14/kubelet/dockertools"
)

// ownNetwork returns the name of this kubelet's own pod network.
func (kl *Kubelet) ownNetwork() string { return "kubelet14-" + kl.opts.Identity.Hostname }

// defaultNetwork returns the network of the newest pod, so that an upgrade rebuilds nothing, or the
// kubelet's own network if there is no pod.
func (kl *Kubelet) defaultNetwork(list []dockertools.Listed) string {
	network, newest := kl.ownNetwork(), time.Time{}
	for _, c := range list {
		if name := c.Labels[dockertools.LabelNetwork]; name != "" && !c.Created.Before(newest) {
			network, newest = name, c.Created
		}
	}
	return network
}
