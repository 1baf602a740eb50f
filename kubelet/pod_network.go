package kubelet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
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

// checkNames returns an error that lists pods of different sources with the same name in the pod network.
func (kl *Kubelet) checkNames() error {
	var errs []error
	owners := map[string]*plan.Pod{}
	for _, fullName := range slices.Sorted(maps.Keys(kl.desired.pods)) {
		pod := kl.desired.pods[fullName]
		if kl.opts.PodNetwork == dockertools.BridgeNetwork && pod.Complete.Services != nil {
			return fmt.Errorf("services have no names in Docker's default network, where the pods are: give -pod_network=%s", kl.ownNetwork())
		}
		if pod.Complete.HostNetwork || kl.opts.PodNetwork == dockertools.BridgeNetwork { // it has no name
			continue
		}
		for _, name := range pod.NetworkNames() {
			if owner := owners[name]; owner == nil {
				owners[name] = pod
			} else if owner.Source != pod.Source {
				errs = append(errs, fmt.Errorf("pods %s and %s both have the name %s, so whoever asks for it reaches one or the other: "+
					"give one of them, or its service, another name or namespace", owner.FullName(), fullName, name))
			}
		}
	}
	return errors.Join(errs...)
}
