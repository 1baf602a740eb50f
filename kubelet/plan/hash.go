package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"kubelet14/api"
)

// shared are the settings of a pod that are part of each of its containers.
type shared struct {
	HostPID  bool    `json:"hostPID,omitempty"`
	HostIPC  bool    `json:"hostIPC,omitempty"`
	SharePID bool    `json:"sharePID,omitempty"`
	FSGroup  *int64  `json:"fsGroup,omitempty"`
	Groups   []int64 `json:"groups,omitempty"`
}

// appHash is the hash of everything that an app container depends on: its part of the manifest, the init containers, the
// volumes that they mount, and what all containers of the pod share. 2014 hashed Go's print of the struct, with the
// addresses behind pointers, and restarted containers that had not changed.
func appHash(m *api.ContainerManifest, c *api.Container) string {
	mounts := slices.Clone(c.VolumeMounts)
	for _, init := range m.InitContainers {
		mounts = append(mounts, init.VolumeMounts...)
	}
	notMounted := func(v api.Volume) bool {
		return !slices.ContainsFunc(mounts, func(mount api.VolumeMount) bool { return mount.Name == v.Name })
	}
	return hash(struct {
		Container *api.Container  `json:"container"`
		Volumes   []api.Volume    `json:"volumes,omitempty"`
		Init      []api.Container `json:"init,omitempty"`
		Shared    shared          `json:"shared,omitzero"`
	}{c, slices.DeleteFunc(slices.Clone(m.Volumes), notMounted), m.InitContainers,
		shared{m.HostPID, m.HostIPC, m.ShareProcessNamespace, m.FSGroup, m.SupplementalGroups}})
}

// hash returns the FNV-1a hash of v's JSON in hex. Equal values have equal JSON, without unset fields.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hash %T: %v", v, err)) // the types of package api always marshal
	}
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%08x", h.Sum32())
}

// hostPorts returns the ports that a manifest publishes or opens on the host, in an order that does not
// depend on the order of its containers.
func hostPorts(m *api.ContainerManifest) []api.Port {
	var ports []api.Port
	for _, c := range m.Staying() {
		for _, port := range c.Ports {
			if m.HostNetwork {
				port.HostPort = port.ContainerPort
			}
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

// envHash returns a servicesHash of variables. Their text is in labels of running containers, and does not change with api.EnvVar.
func envHash(vars []api.EnvVar) string {
	var gives []string
	for _, env := range vars {
		gives = append(gives, fmt.Sprintf("{%s %s }", env.Name, env.Value))
	}
	return servicesHash(gives)
}

// servicesHash returns a hash of the names or variables that services give a container, or "" if there are none.
func servicesHash(gives []string) string {
	if len(gives) == 0 {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(gives))))[:16]
}
