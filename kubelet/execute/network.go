package execute

import (
	"kubelet14/kubelet/dns"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// joinNetwork puts a network container into the pod network. Docker's DNS knows it there as
// name.namespace, and its resolver appends the namespace to a name without a dot.
func (e *Executor) joinNetwork(spec *dockertools.ContainerSpec, pod *plan.Pod) {
	spec.Labels[dockertools.LabelNetwork] = e.PodNetwork
	if e.PodNetwork != dockertools.BridgeNetwork {
		spec.Network, spec.Aliases = e.PodNetwork, pod.NetworkNames()
		spec.DNS = dns.InNamespace(pod.Namespace, pod.Complete.DNS, dns.HostSearches())
	}
}
