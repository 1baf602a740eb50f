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
		spec.Network = e.PodNetwork
		for _, name := range pod.NetworkNames() {
			spec.Aliases = append(spec.Aliases, name)
			if name != pod.Name+"."+pod.Namespace { // a cluster knows services and subdomains by these too
				spec.Aliases = append(spec.Aliases, name+".svc", name+".svc.cluster.local")
			}
		}
		spec.DNS = dns.InNamespace(pod.Namespace, pod.Complete.DNS, dns.HostSearches())
	}
}
