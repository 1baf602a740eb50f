package validation

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"strings"

	"kubelet14/api"
)

// Rules are what the operator of this host allows.
type Rules struct {
	AllowPrivileged bool
}

// Validate returns the problems of an object as it was written. Optional fields may be missing.
func (r Rules) Validate(doc api.Document) api.Mistakes {
	switch {
	case doc.Service != nil:
		return validateService(doc.Service)
	case doc.Config != nil:
		return validateConfigObject(doc.Config)
	}
	return r.ValidateManifest(doc.Manifest)
}

// ValidateManifest returns the problems of a manifest. The conversion has already normalized words such as TCP.
func (r Rules) ValidateManifest(m *api.ContainerManifest) (errs api.Mistakes) {
	c := checker{errs: &errs, containers: names{}}
	for _, in := range m.All() {
		c.containers[in.Name] = true
	}
	isPod := m.Version == api.VersionV1
	c.check(isPod || m.Version == "v1beta1" || m.Version == "v1beta2", unsupported, "version", m.Version, "use v1, v1beta1 or v1beta2")
	c.check(!isPod || len(m.Containers) > 0, invalid, "containers", "", "a Pod has at least one")
	c.check(m.ID == "" && !isPod || IsDNSSubdomain(m.ID), invalid, "id", m.ID, wantSubdomain)
	c.check(m.UUID == "" || uid.MatchString(m.UUID), invalid, "uuid", m.UUID, "use A-Z, a-z, 0-9 and '-', at most 63 characters")
	c.check(m.Namespace == "" || IsDNSLabel(m.Namespace), invalid, "namespace", m.Namespace, wantLabel)
	c.check(r.AllowPrivileged || !m.HostPID, forbidden, "hostPID", m.HostPID, notPrivileged)
	c.check(r.AllowPrivileged || !m.HostIPC, forbidden, "hostIPC", m.HostIPC, notPrivileged)
	c.check(!m.HostPID || !m.ShareProcessNamespace, invalid, "shareProcessNamespace", "true", "with hostPID all processes are shared already: remove one of them")
	c.count("fsGroup", *cmp.Or(m.FSGroup, new(int64)))
	for i, group := range m.SupplementalGroups {
		c.count(fmt.Sprintf("supplementalGroups[%d]", i), group)
	}
	validateNetwork(c, m)
	c.count("terminationGracePeriodSeconds", *cmp.Or(m.TerminationGracePeriodSeconds, new(int64)))
	deadline := *cmp.Or(m.ActiveDeadlineSeconds, new(int64(1)))
	c.check(deadline > 0 && deadline <= math.MaxInt32, invalid, "activeDeadlineSeconds", deadline, "use 1 to 2147483647")
	volumes, containers, ports := names{}, names{}, hostPorts{}
	for i, v := range m.Volumes {
		c, source := c.in("volumes[%d]", i), cmp.Or(v.Source, &api.VolumeSource{})
		c.name(v.Name, volumes)
		c.oneField("source", *source, v.Source == nil, "exactly 1 volume type is required, such as emptyDir")
		validateFiles(c.in("source"), source)
		if source.HostDir != nil {
			c.absolute("source.hostDir.path", source.HostDir.Path)
			kind := source.HostDir.Type
			known := kind == api.HostDirAny || strings.Contains(hostDirTypes, " "+string(kind)+" ")
			c.check(known, unsupported, "source.hostDir.type", kind, "use"+strings.TrimRight(hostDirTypes, " "))
		}
		if claim := source.Claim; claim != nil {
			c.check(IsDNSSubdomain(claim.Name), invalid, "source.persistentVolumeClaim.claimName", claim.Name, wantSubdomain)
		}
	}
	for i := range m.InitContainers {
		c, in := c.in("initContainers[%d]", i), &m.InitContainers[i]
		taken := hostPorts{} // it ends before the others start
		if in.Sidecar {
			taken = ports
		}
		r.validateContainer(c, m, in, containers, volumes, taken)
		plain := in.Sidecar || in.LivenessProbe == nil && in.ReadinessProbe == nil && in.StartupProbe == nil && in.Lifecycle == nil
		c.check(plain, forbidden, "", in.Name, "an init container has neither probes nor a lifecycle, except with restartPolicy: Always")
	}
	for i := range m.Containers {
		if len(errs) > api.MaxMistakes { // further problems are not reported
			return errs
		}
		c, in := c.in("containers[%d]", i), &m.Containers[i]
		r.validateContainer(c, m, in, containers, volumes, ports)
		c.check(!in.Sidecar, forbidden, "sidecar", "Always", "that of the spec is for all; a sidecar is one of the initContainers")
	}
	c.oneField("restartPolicy", m.RestartPolicy, true, "only 1 policy is allowed")
	return errs
}

const notPrivileged = "the kubelet needs -allow_privileged, or allowPrivileged: true in its settings"

// hostDirTypes has a space on both sides of each word.
const hostDirTypes = " Directory DirectoryOrCreate File FileOrCreate Socket CharDevice BlockDevice "

// validateNetwork checks the network settings that the containers of a pod share.
func validateNetwork(c checker, m *api.ContainerManifest) {
	c.check(m.Hostname == "" || IsDNSLabel(m.Hostname), invalid, "hostname", m.Hostname, wantLabel)
	c.check(m.Subdomain == "" || IsDNSLabel(m.Subdomain), invalid, "subdomain", m.Subdomain, wantLabel)
	for i, alias := range m.HostAliases {
		c := c.in("hostAliases[%d]", i)
		c.ip("ip", alias.IP)
		for j, name := range alias.Hostnames {
			c.in("hostnames[%d]", j).check(IsDNSSubdomain(name), invalid, "", name, wantSubdomain)
		}
	}
	dns := cmp.Or(m.DNS, &api.DNSConfig{})
	for i, server := range dns.Nameservers {
		c.in("dns.nameservers[%d]", i).ip("", server)
	}
	for i, option := range dns.Options {
		c.in("dns.options[%d]", i).check(option != "" && option[0] != ':', invalid, "name", "", "")
	}
}

// ip checks an IP address.
func (c checker) ip(field, ip string) {
	_, err := netip.ParseAddr(ip)
	c.check(err == nil, invalid, field, ip, "use an IP address")
}
