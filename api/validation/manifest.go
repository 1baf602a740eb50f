package validation

import "kubelet14/api"

// Rules are what the operator of this host allows.
type Rules struct {
	AllowPrivileged bool
}

// ValidatePod returns the problems of a pod's identity and of its manifest.
func (r Rules) ValidatePod(p *api.Pod) (errs api.FieldErrors) {
	c := checker{errs: &errs}
	c.check(IsDNSSubdomain(p.Name), invalid, "name", p.Name, wantSubdomain)
	c.check(IsDNSLabel(p.Namespace), invalid, "namespace", p.Namespace, wantLabel)
	c.check(IsDNSLabel(p.Source), invalid, "source", p.Source, wantLabel)
	c.check(uid.MatchString(p.UID), invalid, "uid", p.UID, wantUID)
	return append(errs, r.ValidateManifest(&p.Manifest)...)
}

// ValidateManifest returns the problems of a manifest as it was written: what is optional may be missing. Words such as
// TCP have their one spelling from the conversion.
func (r Rules) ValidateManifest(m *api.ContainerManifest) (errs api.FieldErrors) {
	c := checker{errs: &errs}
	c.check(m.Version == "v1beta1" || m.Version == "v1beta2", unsupported, "version", m.Version, "use v1beta1 or v1beta2")
	c.check(m.ID == "" || IsDNSSubdomain(m.ID), invalid, "id", m.ID, wantSubdomain)
	c.check(m.UUID == "" || uid.MatchString(m.UUID), invalid, "uuid", m.UUID, wantUID)
	volumes, containers, hostPorts := names{}, names{}, hostPorts{}
	for i, v := range m.Volumes {
		c := c.in("volumes[%d]", i)
		c.name(v.Name, volumes)
		if v.Source != nil {
			c.oneField("source", *v.Source, false, "exactly 1 volume type is required: hostDir or emptyDir")
		}
		if v.Source != nil && v.Source.HostDir != nil {
			c.absolute("source.hostDir.path", v.Source.HostDir.Path)
		}
	}
	for i := range m.Containers {
		r.validateContainer(c.in("containers[%d]", i), &m.Containers[i], containers, volumes, hostPorts)
	}
	c.oneField("restartPolicy", m.RestartPolicy, true, "only 1 policy is allowed")
	return errs
}
