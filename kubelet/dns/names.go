package dns

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// DefaultNetwork returns the network of the newest pod, so that an upgrade rebuilds nothing, or own if there is no pod.
func DefaultNetwork(list []dockertools.Listed, own string) string {
	network, newest := own, time.Time{}
	for _, c := range list {
		if name := c.Labels[dockertools.LabelNetwork]; name != "" && !c.Created.Before(newest) {
			network, newest = name, c.Created
		}
	}
	return network
}

// Names returns the names of a pod in the pod network.
func Names(p *plan.Pod) []string {
	names := append(p.ServiceNames(), p.Name+"."+p.Namespace)
	if p.Complete.Subdomain != "" {
		names = append(names, p.Hostname+"."+p.Complete.Subdomain+"."+p.Namespace)
	}
	return names
}

// CheckNames returns an error that lists pods of different sources with the same name in a network. Docker's default network has
// no names: then the error advises the network own if there are services.
func CheckNames(pods map[string]*plan.Pod, network, own string) error {
	var errs []error
	owners := map[string]*plan.Pod{}
	for _, fullName := range slices.Sorted(maps.Keys(pods)) {
		pod := pods[fullName]
		if network == dockertools.BridgeNetwork && pod.Complete.Services != nil {
			return fmt.Errorf("services have no names in Docker's default network, where the pods are: give -pod_network=%s", own)
		}
		if pod.Complete.HostNetwork || network == dockertools.BridgeNetwork { // it has no name
			continue
		}
		for _, name := range Names(pod) {
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
