package api

import "cmp"

// DefaultTerminationMessagePath is where a program may write its termination message.
const DefaultTerminationMessagePath = "/dev/termination-log"

// SetDefaults fills in what the manifest leaves open. It writes through m's slices: see Clone.
// It comes after validation and after hashing, so that a new default changes no hash. 2014 set
// some defaults while validating and others while reading, so that they depended on the source.
func SetDefaults(m *ContainerManifest) {
	for i := range m.Volumes {
		if m.Volumes[i].Source == nil {
			m.Volumes[i].Source = &VolumeSource{EmptyDir: &EmptyDir{}}
		}
	}
	for i := range m.Containers {
		c := &m.Containers[i]
		for j := range c.Ports {
			c.Ports[j].Protocol = cmp.Or(c.Ports[j].Protocol, ProtocolTCP)
		}
		c.ImagePullPolicy = cmp.Or(c.ImagePullPolicy, PullIfNotPresent)
		c.TerminationMessagePath = cmp.Or(c.TerminationMessagePath, DefaultTerminationMessagePath)
	}
	if m.RestartPolicy == (RestartPolicy{}) {
		m.RestartPolicy.Always = &RestartPolicyAlways{}
	}
}
