package api

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
)

// IsReadOnly reports whether a container that mounts a volume so cannot write to it.
func (m *VolumeMount) IsReadOnly(v *Volume) bool {
	source := cmp.Or(v.Source, &VolumeSource{})
	return m.ReadOnly || source.HasFiles() || source.Claim != nil && source.Claim.ReadOnly
}

// ClaimName returns the name of the volume's claim, or "" if it has none.
func (v *Volume) ClaimName() string {
	if v == nil || v.Source == nil || v.Source.Claim == nil {
		return ""
	}
	return v.Source.Claim.Name
}

// Mounted returns the volume that a container mounts, or nil.
func (m *ContainerManifest) Mounted(mount *VolumeMount) *Volume {
	i := slices.IndexFunc(m.Volumes, func(v Volume) bool { return v.Name == mount.Name })
	if i < 0 {
		return nil
	}
	return &m.Volumes[i]
}

// ClaimParts returns the parts of claims that the containers mount: the name of a claim, and the path of a part.
func (m *ContainerManifest) ClaimParts() iter.Seq2[string, string] {
	return func(yield func(claim, part string) bool) {
		for _, c := range m.All() {
			for i := range c.VolumeMounts {
				mount := &c.VolumeMounts[i]
				claim := m.Mounted(mount).ClaimName()
				if claim != "" && mount.SubPath != "" && !yield(claim, mount.SubPath) {
					return
				}
			}
		}
	}
}

// MountsParts reports whether a container mounts parts of volumes in which programs can write.
func (m *ContainerManifest) MountsParts(c *Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(mount VolumeMount) bool {
		return mount.SubPath != "" && !m.Mounted(&mount).Source.HasFiles()
	})
}

// WriterAbove returns the name of one of the containers that can write to a directory above a part of one of the matching volumes,
// or "". It could put a link there, and Docker would mount the file of the host that the link names: CVE-2017-1002101, CVE-2021-25741.
func (m *ContainerManifest) WriterAbove(part string, containers []*Container, match func(*Volume) bool) string {
	part = path.Clean(part)
	for _, c := range containers {
		for i := range c.VolumeMounts {
			mount := &c.VolumeMounts[i]
			volume := m.Mounted(mount)
			if volume == nil || !match(volume) || mount.IsReadOnly(volume) {
				continue
			}
			if dir := path.Clean(mount.SubPath); part != "." && dir == "." || strings.HasPrefix(part, dir+"/") {
				return c.Name
			}
		}
	}
	return ""
}
