package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/envvars"
)

// Pod is the desired state of a pod, ready to be compared with its containers. An edit of the manifest, a new
// name of its file, or a person who stops or restarts the pod makes another one. It never changes.
type Pod struct {
	api.Pod                        // its Manifest is as written; hashes are made of it
	Since    time.Time             // when the manifest arrived in this form
	Complete api.ContainerManifest // the Manifest with defaults; containers are made of it
	Hostname string
	Ports    []api.Port // the host ports that its network container publishes; with HostNetwork, those that its containers use
	Grace    string     // see dockertools.LabelGrace
	Network  Container
	Stopped  string      // why no container may run, as a person wants it; empty: they may
	Restart  int64       // its newest restart by a person, see dockertools.LabelRestart; 0: none
	Init     []Container // start one after the other before the apps
	Apps     []Container // in the order of the manifest
}

// Container is the desired state of one container.
type Container struct {
	Name      string
	Hash      string         // part of the container's name in Docker
	Spec      *api.Container // with defaults; nil for the network container
	Lifecycle string         // see dockertools.LabelLifecycle
	Services  string         // see dockertools.LabelServices; computed once, since a hundred services take a millisecond
	NeedsIP   bool           // it needs the pod's IP to be created, so the network container must run first
	Turn      int            // how many init containers start before it
	Parts     bool           // it mounts parts of volumes, which init containers may make, so it is created in its turn
}

// IsSidecar reports whether a container is one of Init that stays: the next one starts when its startup probe has succeeded, it
// starts again whenever it ends, whatever the restart policy, and it is stopped after the apps.
func (c *Container) IsSidecar() bool { return c.Spec != nil && c.Spec.Sidecar }

// NewPod prepares a pod. Hashes are made of the manifest as written, without defaults, so that a new
// default restarts nothing.
func NewPod(pod api.Pod, networkImage string, since time.Time) *Pod {
	p := &Pod{Pod: pod, Since: since, Complete: pod.Manifest.Clone()}
	api.SetDefaults(&p.Complete)
	p.Hostname = cmp.Or(pod.Manifest.Hostname, strings.TrimRight(pod.Name[:min(len(pod.Name), 63)], "-."))
	p.Ports = hostPorts(&p.Complete)
	if grace := p.Complete.TerminationGracePeriodSeconds; grace != nil {
		p.Grace = strconv.FormatInt(*grace, 10)
	}
	written := pod.Manifest.All()
	for i, spec := range p.Complete.All() {
		c := Container{Name: spec.Name, Hash: appHash(&pod.Manifest, written[i]), Spec: spec, Lifecycle: dockertools.LifecycleLabel(spec), Services: envHash(envvars.Of(&p.Complete, spec))}
		c.Turn, c.Parts = min(i, len(pod.Manifest.InitContainers)), p.Complete.MountsParts(spec)
		c.NeedsIP = slices.ContainsFunc(spec.Env, func(env api.EnvVar) bool { return env.FieldPath == api.FieldPodIP })
		if i < len(pod.Manifest.InitContainers) {
			p.Init = append(p.Init, c)
		} else {
			p.Apps = append(p.Apps, c)
		}
	}
	// 2014 did not hash the network container: a changed host port was not published.
	p.Network = Container{Name: api.NetworkContainerName, Services: servicesHash(p.ServiceNames()), Hash: hash(struct {
		Hostname    string          `json:"hostname"`
		Image       string          `json:"image"`
		Ports       []api.Port      `json:"ports,omitempty"`
		HostNetwork bool            `json:"hostNetwork,omitempty"`
		HostAliases []api.HostAlias `json:"hostAliases,omitempty"`
		DNS         *api.DNSConfig  `json:"dns,omitempty"`
		Subdomain   string          `json:"subdomain,omitempty"`
		SharePID    bool            `json:"sharePID,omitempty"`
	}{p.Hostname, networkImage, hostPorts(&pod.Manifest), pod.Manifest.HostNetwork, pod.Manifest.HostAliases, pod.Manifest.DNS,
		pod.Manifest.Subdomain, pod.Manifest.ShareProcessNamespace})}
	return p
}

// Container returns the container of this name, or nil.
func (p *Pod) Container(name string) *Container {
	for _, some := range [][]Container{p.Init, p.Apps, {p.Network}} {
		if i := slices.IndexFunc(some, func(c Container) bool { return c.Name == name }); i >= 0 {
			return &some[i]
		}
	}
	return nil
}

// Containers returns the pod's containers: the init containers first, the network container last.
func (p *Pod) Containers() []Container { return append(p.InitAndApps(), p.Network) }

// InitAndApps returns the pod's containers without the network container, in a slice of its own.
func (p *Pod) InitAndApps() []Container { return slices.Concat(p.Init, p.Apps) }

// Staying returns the sidecars and the apps, in a slice of its own.
func (p *Pod) Staying() []Container {
	return slices.DeleteFunc(p.InitAndApps(), func(c Container) bool { return p.IsInit(c.Name) })
}

// IsInit reports whether a container of this name is an init container that ends.
func (p *Pod) IsInit(name string) bool {
	return slices.ContainsFunc(p.Init, func(c Container) bool { return c.Name == name && !c.IsSidecar() })
}

// InitHash returns a hash of all init containers, or "" if there are none. The hash of the first covers them all.
func (p *Pod) InitHash() string {
	if len(p.Init) == 0 {
		return ""
	}
	return p.Init[0].Hash
}

// startsOnce reports whether the restart policy is never: each container starts once for a UID.
func (p *Pod) startsOnce() bool { return p.Complete.RestartPolicy.Never != nil }

// predates reports whether a container is from before the pod's newest restart by a person, and so counts for nothing.
func (p *Pod) predates(c *Observed) bool { return c.Restart < p.Restart }

// Done reports whether a container never runs again, given its newest attempt. One that starts once is done
// however it ended, even if the manifest has been edited since. An init container that succeeded runs again
// only in another network, see turn.
func (p *Pod) Done(want *Container, newest *Observed) bool {
	if !newest.Terminated() || !newest.HasStarted() || p.predates(newest) || want.IsSidecar() {
		return false
	}
	succeeds := p.Complete.RestartPolicy.OnFailure != nil || p.IsInit(want.Name)
	return p.startsOnce() || succeeds && !newest.Failed() && newest.Of.Hash == want.Hash
}

// pulls reports whether the image is pulled before the next attempt even if it is present. An image
// tagged "latest" is pulled for a new or edited container, not after a crash.
func (c *Container) pulls(newest *Observed) bool {
	switch c.Spec.ImagePullPolicy {
	case api.PullAlways:
		return true
	case api.PullNever:
		return false
	}
	return (newest == nil || newest.Of.Hash != c.Hash) && api.IsLatest(c.Spec.Image)
}
