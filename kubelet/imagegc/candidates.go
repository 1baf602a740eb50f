package imagegc

import (
	"slices"

	"kubelet14/kubelet/dockertools"
)

// World is what is known of a Docker when images are to be collected. Names are those of dockertools.ImageName.
type World struct {
	Pulled     map[string]string // the ids that pulls of this kubelet have brought, by name
	Images     []dockertools.Image
	Layers     map[string][]string     // of each image, by its id, the lowest first
	Containers []dockertools.Container // everybody's, dead ones too
	Needed     map[string]bool         // names, by desired pods and by pulls that go on
}

// Candidates returns the images that this kubelet has pulled and nobody needs. What somebody else may count on is spared: an
// image with another id than the pull has brought, with a second name, without a digest of a registry, or with a container; and
// the base of an image that stays, whose layers would stay too.
func Candidates(w World) []dockertools.Image {
	stays := func(i dockertools.Image) bool {
		name := nameOf(i)
		used := slices.ContainsFunc(w.Containers, func(c dockertools.Container) bool { return c.ImageID == i.ID })
		return name == "" || w.Pulled[name] != i.ID || len(i.Digests) == 0 || w.Needed[name] || used
	}
	others := slices.DeleteFunc(slices.Clone(w.Images), func(i dockertools.Image) bool { return !stays(i) })
	return slices.DeleteFunc(slices.Clone(w.Images), func(i dockertools.Image) bool {
		layers := w.Layers[i.ID]
		isBase := func(other dockertools.Image) bool { // a build may add no layer
			above := w.Layers[other.ID]
			return len(above) >= len(layers) && slices.Equal(layers, above[:len(layers)]) && !other.Created.Before(i.Created)
		}
		return stays(i) || slices.ContainsFunc(others, isBase)
	})
}

// nameOf returns the one name of an image, which is its digest if it was pulled by that.
func nameOf(i dockertools.Image) string {
	names := i.Tags
	if len(names) == 0 {
		names = i.Digests
	}
	if len(names) != 1 {
		return ""
	}
	return dockertools.ImageName(names[0])
}
