package kubelet

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"kubelet14/api"
)

// containerHash is the fingerprint of all that an app container is made from: its
// own part of the manifest and the volumes it mounts, as written and without
// defaults. It is part of the container's name, so an edit shows as a name that
// is no longer wanted.
//
// 2014 hashed Go's print of the struct, which shows the addresses behind
// pointers: a container with a probe had a new hash at every read of its file,
// and was restarted for it.
func containerHash(m *api.ContainerManifest, c *api.Container) string {
	var mounted []api.Volume
	for _, v := range m.Volumes {
		for _, mount := range c.VolumeMounts {
			if mount.Name == v.Name {
				mounted = append(mounted, v)
				break
			}
		}
	}
	return hashOf(struct {
		Container *api.Container `json:"container"`
		Volumes   []api.Volume   `json:"volumes,omitempty"`
	}{c, mounted})
}

// networkHash is the fingerprint of a pod's network container. 2014 never
// compared it, so a changed host port was not published before something else
// ended the pod.
func networkHash(hostname, image string, ports []api.Port) string {
	return hashOf(struct {
		Hostname string     `json:"hostname"`
		Image    string     `json:"image"`
		Ports    []api.Port `json:"ports,omitempty"`
	}{hostname, image, ports})
}

// hashOf is the FNV-1a hash of v's JSON, in hex. The JSON is canonical: api's
// types hold no maps, and fields that are not set are not in it.
func hashOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hash %T: %v", v, err)) // api types always marshal
	}
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%08x", h.Sum32())
}
