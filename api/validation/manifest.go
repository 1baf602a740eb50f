package validation

import (
	"strings"

	"kubelet14/api"
)

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
	c.check(isUID(p.UID), invalid, "uid", p.UID, wantUID)
	return append(errs, r.ValidateManifest(&p.Manifest)...)
}

// ValidateManifest returns the problems of a manifest as it was written: what is optional may
// be missing. Words such as TCP have their one spelling from the conversion.
func (r Rules) ValidateManifest(m *api.ContainerManifest) (errs api.FieldErrors) {
	c := checker{errs: &errs}
	c.check(m.Version == "v1beta1" || m.Version == "v1beta2", unsupported, "version", m.Version, "use v1beta1 or v1beta2")
	c.check(m.ID == "" || IsDNSSubdomain(m.ID), invalid, "id", m.ID, wantSubdomain)
	c.check(m.UUID == "" || isUID(m.UUID), invalid, "uuid", m.UUID, wantUID)
	volumes := names{}
	for i := range m.Volumes {
		validateVolume(c.in("volumes[%d]", i), &m.Volumes[i], volumes)
	}
	containers, hostPorts := names{}, hostPorts{}
	for i := range m.Containers {
		r.validateContainer(c.in("containers[%d]", i), &m.Containers[i], containers, volumes, hostPorts)
	}
	policies := setFields(m.RestartPolicy)
	c.check(len(policies) <= 1, invalid, "restartPolicy", strings.Join(policies, ", "), "only 1 policy is allowed")
	return errs
}

func validateVolume(c checker, v *api.Volume, taken names) {
	c.name(v.Name, taken)
	if v.Source == nil {
		return
	}
	c.exactlyOne("source", *v.Source, "volume type is required: hostDir or emptyDir")
	if v.Source.HostDir != nil {
		c.absolute("source.hostDir.path", v.Source.HostDir.Path)
	}
}
