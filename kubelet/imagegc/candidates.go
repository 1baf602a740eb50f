package imagegc

import (
	"slices"

	"kubelet14/kubelet/dockertools"
)

// World is the state of a Docker that Candidates decides on. Names have the form that dockertools.ImageName returns.
type World struct {
	Pulled     map[string]string // ids of the images that this kubelet pulled, by name
	Images     []dockertools.Image
	Layers     map[string][]string     // of each image, by id, lowest layer first
	Containers []dockertools.Container // everybody's, including dead ones
	Needed     map[string]bool         // names that desired pods need, or that are being pulled
}

// Candidates returns the images that this kubelet pulled and nobody needs. It spares images that somebody else may use:
// those whose id is not the one pulled, and those with a second name, without a registry's digest, or with a container.
// It also spares the base of an image that stays, since its layers would stay too.
func Candidates(w World) []dockertools.Image {
	stays := func(i dockertools.Image) bool {
		name := nameOf(i)
		used := slices.ContainsFunc(w.Containers, func(c dockertools.Container) bool { return c.ImageID == i.ID })
		return name == "" || w.Pulled[name] != i.ID || len(i.Digests) == 0 || w.Needed[name] || used
	}
	others := slices.DeleteFunc(slices.Clone(w.Images), func(i dockertools.Image) bool { return !stays(i) })
	return slices.DeleteFunc(slices.Clone(w.Images), func(i dockertools.Image) bool {
		layers := w.Layers[i.ID]
		isBase := func(other dockertools.Image) bool { // the layers may be equal: not every build adds one
			above := w.Layers[other.ID]
			return len(above) >= len(layers) && slices.Equal(layers, above[:len(layers)]) && !other.Created.Before(i.Created)
		}
		return stays(i) || slices.ContainsFunc(others, isBase)
	})
}

// nameOf returns the only name of an image, or "" if it has none or several. It is a digest if the image was pulled by digest.
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
