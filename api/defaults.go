package api

// DefaultTerminationMessagePath is where a program may leave its last words,
// when its manifest does not say.
const DefaultTerminationMessagePath = "/dev/termination-log"

// SetDefaults fills in what the manifest leaves open. It writes through m's
// slices, so the caller passes a manifest of its own: see Clone. Doing it twice
// changes nothing more.
//
// It comes after validation and after hashing: 2014 set some defaults while
// validating and others while reading, and which pod had them depended on the
// source it came from.
func SetDefaults(m *ContainerManifest) {
	for i := range m.Volumes {
		if m.Volumes[i].Source == nil {
			m.Volumes[i].Source = &VolumeSource{EmptyDir: &EmptyDir{}}
		}
	}
	for i := range m.Containers {
		c := &m.Containers[i]
		for j := range c.Ports {
			if c.Ports[j].Protocol == "" {
				c.Ports[j].Protocol = ProtocolTCP
			}
		}
		if c.ImagePullPolicy == "" {
			c.ImagePullPolicy = PullIfNotPresent
		}
		if c.TerminationMessagePath == "" {
			c.TerminationMessagePath = DefaultTerminationMessagePath
		}
	}
	if m.RestartPolicy == (RestartPolicy{}) {
		m.RestartPolicy.Always = &RestartPolicyAlways{}
	}
}
