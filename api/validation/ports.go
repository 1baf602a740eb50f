package validation

import (
	"cmp"
	"net/netip"

	"kubelet14/api"
)

func validatePort(p *api.Port, taken names, hostPorts hostPorts) api.FieldErrors {
	var errs api.FieldErrors
	if p.Name != "" {
		errs = taken.validateName(p.Name)
	}
	switch {
	case p.ContainerPort == 0:
		add(&errs, Required, "containerPort", p.ContainerPort, "")
	case !isPort(p.ContainerPort):
		add(&errs, Invalid, "containerPort", p.ContainerPort, wantPort)
	}
	protocol := cmp.Or(p.Protocol, api.ProtocolTCP)
	if protocol != api.ProtocolTCP && protocol != api.ProtocolUDP {
		add(&errs, Unsupported, "protocol", p.Protocol, "use TCP or UDP")
	}
	ip, err := netip.ParseAddr(p.HostIP)
	if p.HostIP != "" && (err != nil || ip.Zone() != "") {
		add(&errs, Invalid, "hostIP", p.HostIP, "use an address of this host such as 127.0.0.1")
	}
	switch {
	case p.HostPort == 0:
	case !isPort(p.HostPort):
		add(&errs, Invalid, "hostPort", p.HostPort, wantPort)
	case !hostPorts.take(hostPort{p.HostPort, protocol}, ip.Unmap()):
		add(&errs, Duplicate, "hostPort", p.HostPort, "another port of this pod has it, with the same protocol and address")
	}
	return errs
}

// hostPort is what two ports must not share, unless their host IPs differ.
type hostPort struct {
	number   int
	protocol api.Protocol
}

// hostPorts are the addresses on which the ports of one pod are published.
type hostPorts map[hostPort][]netip.Addr

// take notes a port, and says whether it was free. An ip that is unspecified, or
// not there at all, means every address of the host. 2014 compared the number
// alone, and so refused DNS, which needs 53 of both TCP and UDP.
func (taken hostPorts) take(port hostPort, ip netip.Addr) bool {
	everywhere := func(ip netip.Addr) bool { return !ip.IsValid() || ip.IsUnspecified() }
	for _, other := range taken[port] {
		if other == ip || everywhere(other) || everywhere(ip) {
			return false
		}
	}
	taken[port] = append(taken[port], ip)
	return true
}
