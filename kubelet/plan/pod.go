package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"

	"kubelet14/api"
)

// Pod is the desired state of a pod, ready to be compared with its containers. It is made
// once for each version of a manifest and never changed, so a new pointer is a new version.
type Pod struct {
	api.Pod  // as written
	FullName string
	Since    time.Time             // when this version arrived
	Manifest api.ContainerManifest // with defaults
	Hostname string
	Ports    []api.Port // the host ports that its network container publishes
	Network  Container
	Apps     []Container // in the order of the manifest
}

// Container is the desired state of one container.
type Container struct {
	Name      string
	Hash      string         // part of the container's name in Docker
	Spec      *api.Container // with defaults; nil for the network container
	Lifecycle string         // see dockertools.LabelLifecycle
}

// NewPod prepares a pod. Hashes are made of the manifest as written, before defaults: so a
// new default restarts nothing. lifecycle returns the label for a container's hooks.
func NewPod(pod api.Pod, networkImage string, since time.Time, lifecycle func(*api.Container) string) *Pod {
	p := &Pod{Pod: pod, FullName: pod.FullName(), Since: since, Manifest: pod.Manifest.Clone()}
	api.SetDefaults(&p.Manifest)
	p.Hostname = strings.TrimRight(pod.Name[:min(len(pod.Name), 63)], "-.")
	p.Ports = hostPorts(&p.Manifest)
	for i := range p.Manifest.Containers {
		spec := &p.Manifest.Containers[i]
		p.Apps = append(p.Apps, Container{spec.Name, appHash(&pod.Manifest, &pod.Manifest.Containers[i]), spec, lifecycle(spec)})
	}
	// 2014 did not hash the network container: a changed host port was not published.
	p.Network = Container{Name: api.NetworkContainerName, Hash: hash(struct {
		Hostname string     `json:"hostname"`
		Image    string     `json:"image"`
		Ports    []api.Port `json:"ports,omitempty"`
	}{p.Hostname, networkImage, hostPorts(&pod.Manifest)})}
	return p
}

// Container returns the container of this name, or nil.
func (p *Pod) Container(name string) *Container {
	if name == p.Network.Name {
		return &p.Network
	}
	i := slices.IndexFunc(p.Apps, func(c Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Apps[i]
}

// Names returns the names of the pod's containers, the network container last.
func (p *Pod) Names() []string {
	var names []string
	for i := range p.Apps {
		names = append(names, p.Apps[i].Name)
	}
	return append(names, p.Network.Name)
}

// Done reports whether a container never runs again, by its newest attempt and the restart
// policy. With never, each container starts once in the life of the pod's UID, however it
// ended and even if the manifest was edited since.
func (p *Pod) Done(want *Container, newest *Observed) bool {
	if !newest.Terminated() || !newest.HasStarted() {
		return false
	}
	policy := p.Manifest.RestartPolicy
	return policy.Never != nil || policy.OnFailure != nil && !newest.Failed() && newest.Of.Hash == want.Hash
}

// pulls reports whether the image is pulled before the next attempt although it may be
// present. A tag "latest" is pulled for a new version of the container, not after a crash.
func (c *Container) pulls(newest *Observed) bool {
	switch c.Spec.ImagePullPolicy {
	case api.PullAlways:
		return true
	case api.PullNever:
		return false
	}
	return (newest == nil || newest.Of.Hash != c.Hash) && isLatest(c.Spec.Image)
}

// isLatest reports whether an image has the tag "latest", or neither tag nor digest.
func isLatest(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	tagged, isTagged := reference.TagNameOnly(named).(reference.Tagged)
	_, hasDigest := named.(reference.Digested)
	return isTagged && !hasDigest && tagged.Tag() == "latest"
}

// appHash is the hash of all that an app container is made from: its part of the manifest
// and the volumes it mounts. 2014 hashed Go's print of the struct, with the addresses
// behind pointers, and restarted containers that had not changed.
func appHash(m *api.ContainerManifest, c *api.Container) string {
	notMounted := func(v api.Volume) bool {
		return !slices.ContainsFunc(c.VolumeMounts, func(mount api.VolumeMount) bool { return mount.Name == v.Name })
	}
	return hash(struct {
		Container *api.Container `json:"container"`
		Volumes   []api.Volume   `json:"volumes,omitempty"`
	}{c, slices.DeleteFunc(slices.Clone(m.Volumes), notMounted)})
}

// hash returns the FNV-1a hash of v's JSON in hex. The JSON is canonical: the types of
// package api hold no maps, and fields that are not set are left out.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hash %T: %v", v, err)) // the types of package api always marshal
	}
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%08x", h.Sum32())
}

// hostPorts returns the ports that a manifest publishes on the host, in an order that does
// not depend on that of its containers.
func hostPorts(m *api.ContainerManifest) []api.Port {
	var ports []api.Port
	for _, c := range m.Containers {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				port.Name = "" // Docker has no names for ports
				ports = append(ports, port)
			}
		}
	}
	slices.SortFunc(ports, func(a, b api.Port) int {
		return cmp.Or(cmp.Compare(a.HostPort, b.HostPort), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.HostIP, b.HostIP))
	})
	return ports
}
