package execute

import (
	"context"
	"fmt"

	"kubelet14/api"
	"kubelet14/kubelet/dns"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// joinNetwork puts a network container into the pod network. Docker's DNS knows it there as
// name.namespace, and its resolver appends the namespace to a name without a dot.
func (e *Executor) joinNetwork(spec *dockertools.ContainerSpec, pod *plan.Pod) {
	spec.Labels[dockertools.LabelNetwork] = e.PodNetwork
	if e.PodNetwork != dockertools.BridgeNetwork {
		spec.Network = e.PodNetwork
		for _, name := range dns.Names(pod) {
			spec.Aliases = append(spec.Aliases, name)
			if name != pod.Name+"."+pod.Namespace { // a cluster knows services and subdomains by these too
				spec.Aliases = append(spec.Aliases, name+".svc", name+".svc.cluster.local")
			}
		}
		spec.DNS = dns.InNamespace(pod.Namespace, pod.Complete.DNS, dns.HostSearches())
	}
}

// makePodNetwork makes the pod network, unless it is known to exist and not missing now.
func (e *Executor) makePodNetwork(ctx context.Context, missing bool) error {
	name := e.PodNetwork
	e.making.Lock()
	defer e.making.Unlock()
	if name == dockertools.BridgeNetwork || e.networkSeen && !missing {
		return nil
	}
	if err := e.Docker.MakeNetwork(ctx, name); err != nil {
		return plan.Problem{Reason: api.ReasonCannotStart, Message: fmt.Sprintf(
			"could not start: %v; with -pod_network=%s pods use Docker's default network, in which they do not find each other by name",
			err, dockertools.BridgeNetwork)}
	}
	e.networkSeen = true
	return nil
}
