package kubelet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// wantedPod is a pod ready to be compared with what Docker holds. It is made
// once for each form of a pod and never changed, so that a worker can tell a new
// wish from an old one by the pointer.
type wantedPod struct {
	api.Pod  // as written
	fullName string
	since    time.Time             // when this form of it was first heard of
	manifest api.ContainerManifest // with defaults
	hostname string                // of all its containers
	ports    []api.Port            // what its network container publishes
	net      wantedContainer
	apps     []wantedContainer // in the order of the manifest
}

// wantedContainer is one container of a wantedPod.
type wantedContainer struct {
	name      string
	hash      string
	spec      *api.Container // nil for the network container
	lifecycle string         // see dockertools.LabelLifecycle
}

// awaitsHook says that a container has a postStart to be run.
func (w *wantedContainer) awaitsHook() bool {
	return w.spec != nil && w.spec.Lifecycle != nil && w.spec.Lifecycle.PostStart != nil
}

// container is the one of this name, or nil.
func (w *wantedPod) container(name string) *wantedContainer {
	if name == w.net.name {
		return &w.net
	}
	for i := range w.apps {
		if w.apps[i].name == name {
			return &w.apps[i]
		}
	}
	return nil
}

// pullsAt says whether the image is pulled before a creation although it may be
// present. isNew: the manifest has never had such a container, or has changed.
func (w *wantedContainer) pullsAt(isNew bool) bool {
	switch w.spec.ImagePullPolicy {
	case api.PullAlways:
		return true
	case api.PullNever:
		return false
	}
	return isNew && isLatest(w.spec.Image)
}

func newWantedPod(pod api.Pod, networkImage string) *wantedPod {
	w := &wantedPod{Pod: pod, fullName: pod.FullName(), since: time.Now(), manifest: pod.Manifest.Clone()}
	api.SetDefaults(&w.manifest)
	w.hostname = podHostname(pod.Name)
	w.ports = publishedPorts(&w.manifest)
	for i := range w.manifest.Containers {
		w.apps = append(w.apps, wantedContainer{
			name: w.manifest.Containers[i].Name,
			hash: containerHash(&pod.Manifest, &pod.Manifest.Containers[i]),
			spec: &w.manifest.Containers[i],

			lifecycle: lifecycleLabel(&w.manifest.Containers[i]),
		})
	}
	w.net = wantedContainer{
		name: api.NetworkContainerName,
		hash: networkHash(w.hostname, networkImage, publishedPorts(&pod.Manifest)),
	}
	return w
}

// publishedPorts are the ports of the host that a pod's network container holds
// for all its containers, in an order that does not depend on the manifest's.
func publishedPorts(m *api.ContainerManifest) []api.Port {
	var ports []api.Port
	for _, c := range m.Containers {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				port.Name = "" // it says nothing to Docker
				ports = append(ports, port)
			}
		}
	}
	slices.SortFunc(ports, func(a, b api.Port) int {
		return cmp.Or(cmp.Compare(a.HostPort, b.HostPort), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.HostIP, b.HostIP))
	})
	return ports
}

// podHostname is the pod's name, cut to what a host name may be.
func podHostname(name string) string {
	return strings.TrimRight(name[:min(len(name), 63)], "-.")
}
