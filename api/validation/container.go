package validation

import (
	"cmp"
	"math"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// validateContainer checks a container, and adds its name to taken and its host ports to ports.
func (r Rules) validateContainer(c checker, m *api.ContainerManifest, in *api.Container, taken, volumes names, ports hostPorts) {
	c.name(in.Name, taken)
	c.check(in.Name != api.NetworkContainerName, forbidden, "name", in.Name, "this is the name of every pod's network container")
	if _, err := reference.ParseDockerRef(in.Image); in.Image == "" {
		c.check(false, invalid, "image", "", "use a name such as example.com/team/server:1.2")
	} else if err != nil {
		c.check(false, invalid, "image", in.Image, "use a name such as example.com/team/server:1.2 ("+err.Error()+")")
	}
	c.absolute("workingDir", cmp.Or(in.WorkingDir, "/"))
	messagePath := cmp.Or(in.TerminationMessagePath, api.DefaultTerminationMessagePath)
	c.absolute("terminationMessagePath", messagePath)
	messagePath = path.Clean(messagePath)
	c.check(messagePath != "/", invalid, "terminationMessagePath", in.TerminationMessagePath,
		"a file cannot replace the whole file system of the container")
	c.check(in.Memory == 0 || in.Memory >= 6<<20, invalid, "memory", in.Memory,
		"this is in bytes; Docker needs at least 6291456 (6 MiB), and 0 means no limit")
	c.check(in.CPU >= 0 && in.CPU <= api.MaxCPU, invalid, "cpu", in.CPU,
		"this is in thousandths of a core: use 0 to 256000; 0 means Docker's default share")
	c.check(in.CPULimit >= 0 && in.CPULimit <= 1e9, invalid, "cpuLimit", in.CPULimit,
		"this is in thousandths of a core: use 0 to 1000000000; 0 means no limit")
	security := cmp.Or(in.SecurityContext, &api.SecurityContext{}) // Docker checks the names of capabilities
	c.count("securityContext.runAsUser", *cmp.Or(security.RunAsUser, new(int64)))
	c.count("securityContext.runAsGroup", *cmp.Or(security.RunAsGroup, new(int64)))
	c.check(!security.NonRoot || *cmp.Or(security.RunAsUser, new(int64(1))) != 0, invalid, "securityContext.runAsUser", 0, "runAsNonRoot forbids root")
	c.check(!security.NoNewPrivileges || !in.Privileged, invalid, "securityContext.noNewPrivileges", "false", "a privileged container has all privileges: remove one of them")
	c.check(security.RunAsGroup == nil || security.RunAsUser != nil, invalid, "securityContext.runAsUser", "", "runAsGroup needs it")
	policies := []api.TerminationMessagePolicy{"", api.MessageFile, api.MessageFallbackToLogs}
	c.check(slices.Contains(policies, in.TerminationMessagePolicy), unsupported, "terminationMessagePolicy", in.TerminationMessagePolicy,
		"use File or FallbackToLogsOnError")
	c.check(r.AllowPrivileged || !in.Privileged, forbidden, "privileged", in.Privileged, notPrivileged)
	for i, e := range in.Env {
		name := "(hidden)" // a mistyped name may be PASSWORD=secret
		if e.Name == "" {
			name = ""
		}
		c := c.in("env[%d]", i)
		known := cIdentifier.MatchString(e.Name) || m.Version == api.VersionV1 && envName.MatchString(e.Name)
		c.check(known, invalid, "name", name, "use A-Z, a-z, 0-9 and '_', in a v1 Pod also '-' and '.', and no digit first")
	}
	validateEnvSources(c, in)
	portNames, mountPaths := names{}, names{messagePath: true} // the message file is mounted there
	for i := range in.Ports {
		c, p := c.in("ports[%d]", i), &in.Ports[i]
		number := p.HostPort
		if m.HostNetwork {
			number = cmp.Or(number, p.ContainerPort)
			c.check(number == p.ContainerPort, invalid, "hostPort", number, "with hostNetwork it is the containerPort: remove it")
		}
		validatePort(c, p, number, portNames, ports)
	}
	for i, mount := range in.VolumeMounts {
		c, clean := c.in("volumeMounts[%d]", i), path.Clean(mount.MountPath)
		c.check(volumes[mount.Name], notFound, "name", mount.Name, "the pod has no volume of this name")
		c.absolute("mountPath", mount.MountPath)
		c.check(!strings.Contains(mount.MountPath, ":"), invalid, "mountPath", mount.MountPath, "a ':' cannot be part of it")
		c.check(clean != "/", invalid, "mountPath", mount.MountPath, "a volume cannot replace the whole file system of the container")
		c.check(!mountPaths[clean], duplicate, "mountPath", mount.MountPath, "another volume or the termination message has this path")
		c.subPath(&mount, m)
		mountPaths[clean] = mount.MountPath != ""
	}
	validateProbe(c.in("livenessProbe"), in.LivenessProbe, in.Ports, 1)
	validateProbe(c.in("startupProbe"), in.StartupProbe, in.Ports, 1)
	validateProbe(c.in("readinessProbe"), in.ReadinessProbe, in.Ports, math.MaxInt32)
	hooks := cmp.Or(in.Lifecycle, &api.Lifecycle{})
	validateHook(c.in("lifecycle.postStart"), hooks.PostStart, in.Ports)
	validateHook(c.in("lifecycle.preStop"), hooks.PreStop, in.Ports)
}

// fieldPaths are the fields of a pod that a variable can take its value from.
var fieldPaths = []string{api.FieldName, api.FieldNamespace, api.FieldUID, api.FieldPodIP, api.FieldHostIP, api.FieldNodeName}

// hostPort is a port of the host. In 2014 only the number was compared, so a DNS server, which needs port 53 for both TCP
// and UDP, was refused.
type hostPort struct {
	number   int
	protocol api.Protocol
}

// hostPorts maps each port to the addresses on which containers that run together use it. The zero address means all.
type hostPorts map[hostPort]map[netip.Addr]bool

// validatePort checks a port. number is the port on the host, or 0 if it is not published.
func validatePort(c checker, p *api.Port, number int, names names, taken hostPorts) {
	if p.Name != "" {
		c.name(p.Name, names)
	}
	c.check(isPort(p.ContainerPort), invalid, "containerPort", p.ContainerPort, wantPort)
	protocol := cmp.Or(p.Protocol, api.ProtocolTCP)
	c.check(protocol == api.ProtocolTCP || protocol == api.ProtocolUDP, unsupported, "protocol", p.Protocol, "use TCP or UDP")
	ip, err := netip.ParseAddr(p.HostIP)
	c.check(p.HostIP == "" || err == nil && ip.Zone() == "", invalid, "hostIP", p.HostIP, "use an address of this host such as 127.0.0.1")
	if number == 0 {
		return
	}
	c.check(isPort(number), invalid, "hostPort", number, wantPort)
	if ip = ip.Unmap(); ip.IsUnspecified() {
		ip = netip.Addr{}
	}
	port := hostPort{number, protocol}
	conflict := taken[port][ip] || taken[port][netip.Addr{}] || !ip.IsValid() && len(taken[port]) > 0
	c.check(!conflict, duplicate, "hostPort", number, "another port of this pod has it, with the same protocol and address")
	if taken[port] == nil {
		taken[port] = map[netip.Addr]bool{}
	}
	taken[port][ip] = true
}
