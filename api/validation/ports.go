package validation

import (
	"cmp"
	"net/netip"

	"kubelet14/api"
)

func validatePort(c checker, p *api.Port, taken names, hostPorts hostPorts) {
	if p.Name != "" {
		c.name(p.Name, taken)
	}
	c.check(p.ContainerPort != 0, required, "containerPort", "", wantPort)
	c.check(p.ContainerPort == 0 || isPort(p.ContainerPort), invalid, "containerPort", p.ContainerPort, wantPort)
	protocol := cmp.Or(p.Protocol, api.ProtocolTCP)
	c.check(protocol == api.ProtocolTCP || protocol == api.ProtocolUDP, unsupported, "protocol", p.Protocol, "use TCP or UDP")
	ip, err := netip.ParseAddr(p.HostIP)
	c.check(p.HostIP == "" || err == nil && ip.Zone() == "", invalid, "hostIP", p.HostIP, "use an address of this host such as 127.0.0.1")
	switch {
	case p.HostPort == 0:
	case !isPort(p.HostPort):
		c.check(false, invalid, "hostPort", p.HostPort, wantPort)
	default:
		c.check(hostPorts.take(hostPort{p.HostPort, protocol}, ip.Unmap()), duplicate, "hostPort", p.HostPort,
			"another port of this pod has it, with the same protocol and address")
	}
}

// hostPort is what two ports must not share, unless their host IPs differ. 2014 compared the
// number alone, and so refused DNS, which needs 53 of both TCP and UDP.
type hostPort struct {
	number   int
	protocol api.Protocol
}

// hostPorts are the addresses on which the ports of one pod are published.
type hostPorts map[hostPort][]netip.Addr

// take adds a port, and reports whether it was free. An invalid or unspecified ip means every
// address of the host.
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
