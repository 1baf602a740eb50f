package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// BridgeNetwork is Docker's default network, which all pods shared in 2014. Containers
// have no names in it.
const BridgeNetwork = "bridge"

// ownNetwork is the pod network that no other kubelet has.
func (kl *Kubelet) ownNetwork() string { return "kubelet14-" + kl.opts.Identity.Hostname }

// defaultNetwork returns the network in which the newest pod is: so an upgrade rebuilds no
// pod. The first pod gets the kubelet's own network.
func (kl *Kubelet) defaultNetwork(list []dockertools.Listed) string {
	network, newest := kl.ownNetwork(), time.Time{}
	for _, c := range list {
		if name := c.Labels[dockertools.LabelNetwork]; name != "" && !c.Created.Before(newest) {
			network, newest = name, c.Created
		}
	}
	return network
}

// joinNetwork puts a network container into the pod network. Docker's DNS knows it there as
// name.namespace, and its resolver appends the namespace to a name without a dot. Only
// the kubelet's own network never had containers of versions whose resolver did not: in
// others they find it by its bare name.
func (kl *Kubelet) joinNetwork(spec *dockertools.ContainerSpec, pod *plan.Pod) {
	network := kl.opts.PodNetwork
	spec.Labels[dockertools.LabelNetwork] = network
	if network == BridgeNetwork {
		return
	}
	spec.Network, spec.Aliases = network, networkNames(pod)
	if network != kl.ownNetwork() {
		spec.Aliases = append(spec.Aliases, pod.Name)
	}
	spec.DNS = dnsIn(pod.Namespace, pod.Complete.DNS, dockertools.HostSearches())
}

// networkNames returns the names of a pod in the pod network, but for the bare one.
func networkNames(pod *plan.Pod) []string {
	return append(pod.ServiceNames(), pod.Name+"."+pod.Namespace)
}

// dnsIn returns the DNS configuration of a pod in a namespace. Like Docker, it takes from the
// host the search domains that the manifest does not have. ndots:1 is for the namespace to be
// tried first: without it Docker asks the host's DNS servers for the bare name before that.
func dnsIn(namespace string, written *api.DNSConfig, hostSearches []string) *api.DNSConfig {
	dns := *cmp.Or(written, &api.DNSConfig{})
	if len(dns.Searches) == 0 {
		dns.Searches = hostSearches
	}
	dns.Searches = slices.Concat([]string{namespace}, dns.Searches)
	dns.Searches = slices.DeleteFunc(dns.Searches, func(domain string) bool { return domain == "." }) // it means none
	if !slices.ContainsFunc(dns.Options, func(option string) bool { return strings.HasPrefix(option, "ndots:") }) {
		dns.Options = append(slices.Clone(dns.Options), "ndots:1")
	}
	return &dns
}

// checkNames returns an error that names the pods which answer to the same name. In one source only those of a service do.
func (kl *Kubelet) checkNames() error {
	var errs []error
	owners := map[string]*plan.Pod{}
	for _, fullName := range slices.Sorted(maps.Keys(kl.desired.pods)) {
		pod := kl.desired.pods[fullName]
		if kl.opts.PodNetwork == BridgeNetwork && pod.Complete.Services != nil {
			return fmt.Errorf("services have no names in Docker's default network, where the pods are: give -pod_network=%s", kl.ownNetwork())
		}
		if pod.Complete.HostNetwork || kl.opts.PodNetwork == BridgeNetwork { // it has no name
			continue
		}
		for _, name := range networkNames(pod) {
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

// startContainer starts a container. The first start of a network container makes the pod
// network, and so does each that finds it missing.
func (w *work) startContainer(ctx context.Context, a plan.Action) error {
	defer w.startSlot(ctx, a)()
	joins := a.Name.Name == api.NetworkContainerName && !w.pod.Complete.HostNetwork
	for try := 1; ; try++ {
		if joins {
			if err := w.kl.makePodNetwork(ctx, try > 1); err != nil {
				return err
			}
		}
		err := w.kl.docker.StartContainer(ctx, a.ID)
		if !joins || try == 3 || !errors.Is(err, dockertools.ErrNoSuchNetwork) {
			return err
		}
	}
}

// makePodNetwork makes the pod network unless it was seen, or if it is missing now.
func (kl *Kubelet) makePodNetwork(ctx context.Context, missing bool) error {
	name := kl.opts.PodNetwork
	kl.setUp.Lock()
	defer kl.setUp.Unlock()
	if name == BridgeNetwork || kl.networkSeen && !missing {
		return nil
	}
	if err := kl.docker.MakeNetwork(ctx, name); err != nil {
		return plan.Problem{Reason: api.ReasonCannotStart, Message: fmt.Sprintf(
			"could not start: %v; with -pod_network=%s pods use Docker's default network, in which they do not find each other by name",
			err, BridgeNetwork)}
	}
	kl.networkSeen = true
	return nil
}
