package api

import (
	"cmp"
	"path"
	"reflect"
	"strings"
	"time"
)

// Clone returns a copy that shares no memory with m.
func (m *ContainerManifest) Clone() (out ContainerManifest) {
	Copy(&out, m)
	return out
}

// PortNamed returns the number of a container's port, or 0 if no container has one of this name.
func (m *ContainerManifest) PortNamed(name string) int {
	for _, c := range m.Staying() {
		for _, p := range c.Ports {
			if p.Name == name {
				return p.ContainerPort
			}
		}
	}
	return 0
}

// Groups returns the groups that the processes of the pod have besides their own.
func (m *ContainerManifest) Groups() []int64 {
	if m.FSGroup == nil {
		return m.SupplementalGroups
	}
	return append([]int64{*m.FSGroup}, m.SupplementalGroups...)
}

// All returns the init containers and then the containers.
func (m *ContainerManifest) All() (all []*Container) {
	for i := range m.InitContainers {
		all = append(all, &m.InitContainers[i])
	}
	for i := range m.Containers {
		all = append(all, &m.Containers[i])
	}
	return all
}

// Staying returns the sidecars and then the containers: those that run at the same time.
func (m *ContainerManifest) Staying() (staying []*Container) {
	for i, c := range m.All() {
		if c.Sidecar || i >= len(m.InitContainers) {
			staying = append(staying, c)
		}
	}
	return staying
}

// Copy copies what two structs have in common: each field of *in goes to the field of *out with its name, if there is
// one, and so on inside it. The two then share no memory. Reflection finds the fields, so that none is forgotten.
func Copy(out, in any) {
	copyValue(reflect.ValueOf(out).Elem(), reflect.ValueOf(in).Elem())
}

func copyValue(out, in reflect.Value) {
	switch kind := in.Kind(); {
	case (kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map) && in.IsNil():
	case kind == reflect.Struct && in.Type() != reflect.TypeFor[time.Time]():
		for i := range in.NumField() {
			if in.Type() == out.Type() {
				copyValue(out.Field(i), in.Field(i)) // a search by name takes ten times as long
			} else if field := out.FieldByName(in.Type().Field(i).Name); field.IsValid() {
				copyValue(field, in.Field(i))
			}
		}
	case kind == reflect.Pointer:
		out.Set(reflect.New(out.Type().Elem()))
		copyValue(out.Elem(), in.Elem())
	case kind == reflect.Slice:
		out.Set(reflect.MakeSlice(out.Type(), in.Len(), in.Len()))
		for i := range in.Len() {
			copyValue(out.Index(i), in.Index(i))
		}
	case kind == reflect.Map: // of strings
		out.Set(reflect.MakeMapWithSize(out.Type(), in.Len()))
		for i := in.MapRange(); i.Next(); {
			out.SetMapIndex(i.Key(), i.Value())
		}
	default:
		out.Set(in.Convert(out.Type())) // a Text to a string
	}
}

// IsLatest reports whether an image has the tag "latest", or neither tag nor digest.
func IsLatest(image string) bool {
	name := path.Base(image) // what is before it may have the port of a registry
	return strings.HasSuffix(name, ":latest") || !strings.ContainsAny(name, ":@")
}

// DefaultTerminationMessagePath is where a program may write its termination message.
const DefaultTerminationMessagePath = "/dev/termination-log"

// MaxCPU is the most that a container may have as its share, 256 cores: they are 262144 shares, the most that Docker takes.
const MaxCPU = 256_000

// SetDefaults fills in what the manifest leaves open. It writes through m's slices: see Clone.
// It comes after validation and after hashing, so that a new default changes no hash.
func SetDefaults(m *ContainerManifest) {
	for i := range m.Volumes {
		if m.Volumes[i].Source == nil {
			m.Volumes[i].Source = &VolumeSource{EmptyDir: &EmptyDir{}}
		}
	}
	for _, c := range m.All() {
		for j := range c.Ports {
			c.Ports[j].Protocol = cmp.Or(c.Ports[j].Protocol, ProtocolTCP)
		}
		if m.Version == VersionV1 {
			c.CPU = cmp.Or(c.CPU, min(c.CPULimit, MaxCPU))
		}
		c.ImagePullPolicy = cmp.Or(c.ImagePullPolicy, PullIfNotPresent)
		c.TerminationMessagePath = cmp.Or(c.TerminationMessagePath, DefaultTerminationMessagePath)
		for _, p := range []*Probe{c.LivenessProbe, c.StartupProbe, c.ReadinessProbe} {
			if p != nil && m.Version == VersionV1 {
				p.TimeoutSeconds = cmp.Or(p.TimeoutSeconds, 1)
				p.PeriodSeconds = cmp.Or(p.PeriodSeconds, 10)
				p.SuccessThreshold = cmp.Or(p.SuccessThreshold, 1)
				p.FailureThreshold = cmp.Or(p.FailureThreshold, 3)
			}
		}
	}
	if m.Version == VersionV1 && m.TerminationGracePeriodSeconds == nil {
		m.TerminationGracePeriodSeconds = new(int64(30))
	}
	if m.RestartPolicy == (RestartPolicy{}) {
		m.RestartPolicy.Always = &RestartPolicyAlways{}
	}
}
