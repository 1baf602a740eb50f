package validation

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// validateContainer checks a container, and adds its name and its host ports to what is taken.
func (r Rules) validateContainer(c checker, in *api.Container, taken, volumes names, hostPorts hostPorts) {
	c.name(in.Name, taken)
	c.check(in.Name != api.NetworkContainerName, forbidden, "name", in.Name, "this is the name of every pod's network container")
	if _, err := reference.ParseDockerRef(in.Image); err != nil {
		c.check(false, invalid, "image", in.Image, err.Error())
	}
	c.absolute("workingDir", cmp.Or(in.WorkingDir, "/"))
	messagePath := cmp.Or(in.TerminationMessagePath, api.DefaultTerminationMessagePath)
	c.absolute("terminationMessagePath", messagePath)
	messagePath = path.Clean(messagePath)
	c.check(messagePath != "/", invalid, "terminationMessagePath", in.TerminationMessagePath,
		"a file cannot replace the whole file system of the container")
	c.check(in.Memory == 0 || in.Memory >= 6<<20, invalid, "memory", in.Memory,
		"this is in bytes; Docker needs at least 6291456 (6 MiB), and 0 means no limit")
	// 256 cores are 262144 shares, the most that Docker takes.
	c.check(in.CPU >= 0 && in.CPU <= 256_000, invalid, "cpu", in.CPU,
		"this is in thousandths of a core: use 0 to 256000; 0 means Docker's default share")
	c.check(r.AllowPrivileged || !in.Privileged, forbidden, "privileged", in.Privileged, "the kubelet runs without -allow_privileged")
	policies := []api.PullPolicy{"", api.PullAlways, api.PullNever, api.PullIfNotPresent}
	c.check(slices.Contains(policies, in.ImagePullPolicy), unsupported, "imagePullPolicy", in.ImagePullPolicy,
		"use PullAlways, PullNever or PullIfNotPresent")
	for i, e := range in.Env {
		name := "(hidden)" // with a typing error it may be PASSWORD=secret
		if e.Name == "" {
			name = ""
		}
		c.in("env[%d]", i).check(cIdentifier.MatchString(e.Name), invalid, "name", name, "use A-Z, a-z, 0-9 and '_', and no digit first")
	}
	portNames, mountPaths := names{}, names{messagePath: true} // a file is mounted there
	for i := range in.Ports {
		validatePort(c.in("ports[%d]", i), &in.Ports[i], portNames, hostPorts)
	}
	for i, m := range in.VolumeMounts {
		c, clean := c.in("volumeMounts[%d]", i), path.Clean(m.MountPath)
		c.check(volumes[m.Name], notFound, "name", m.Name, "the pod has no volume of this name")
		c.absolute("mountPath", m.MountPath)
		c.check(!strings.Contains(m.MountPath, ":"), invalid, "mountPath", m.MountPath, "a ':' cannot be part of it")
		c.check(clean != "/", invalid, "mountPath", m.MountPath, "a volume cannot replace the whole file system of the container")
		c.check(!mountPaths[clean], duplicate, "mountPath", m.MountPath, "another volume or the termination message has this path")
		mountPaths[clean] = m.MountPath != ""
	}
	if p := in.LivenessProbe; p != nil {
		validateProbe(c.in("livenessProbe"), p, in.Ports)
	}
	hooks := cmp.Or(in.Lifecycle, &api.Lifecycle{})
	validateHook(c.in("lifecycle.postStart"), hooks.PostStart, in.Ports)
	validateHook(c.in("lifecycle.preStop"), hooks.PreStop, in.Ports)
}

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
