package validation

import (
	"cmp"
	"net/netip"
	"slices"

	"kubelet14/api"
)

// hostPort is what two ports must not share, unless their host IPs differ. 2014 compared the number alone, and so refused
// DNS, which needs 53 of both TCP and UDP.
type hostPort struct {
	number   int
	protocol api.Protocol
}

// hostPorts are the addresses on which the ports of one pod are published.
type hostPorts map[hostPort][]netip.Addr

func validatePort(c checker, p *api.Port, names names, taken hostPorts) {
	if p.Name != "" {
		c.name(p.Name, names)
	}
	c.check(isPort(p.ContainerPort), invalid, "containerPort", p.ContainerPort, wantPort)
	protocol := cmp.Or(p.Protocol, api.ProtocolTCP)
	c.check(protocol == api.ProtocolTCP || protocol == api.ProtocolUDP, unsupported, "protocol", p.Protocol, "use TCP or UDP")
	ip, err := netip.ParseAddr(p.HostIP)
	c.check(p.HostIP == "" || err == nil && ip.Zone() == "", invalid, "hostIP", p.HostIP, "use an address of this host such as 127.0.0.1")
	if p.HostPort == 0 {
		return
	}
	c.check(isPort(p.HostPort), invalid, "hostPort", p.HostPort, wantPort)
	port, ip := hostPort{p.HostPort, protocol}, ip.Unmap()
	everywhere := func(ip netip.Addr) bool { return !ip.IsValid() || ip.IsUnspecified() }
	conflict := slices.ContainsFunc(taken[port], func(other netip.Addr) bool { return other == ip || everywhere(other) || everywhere(ip) })
	c.check(!conflict, duplicate, "hostPort", p.HostPort, "another port of this pod has it, with the same protocol and address")
	taken[port] = append(taken[port], ip)
}
