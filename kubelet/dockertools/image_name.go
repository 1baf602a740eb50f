package dockertools

import "github.com/distribution/reference"

// ImageName returns the whole name of an image: busybox is docker.io/library/busybox:latest,
// and beside a digest a tag means nothing. Two names are of one image if these are equal.
func ImageName(name string) string {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return name
	}
	if digested, ok := named.(reference.Digested); ok {
		return named.Name() + "@" + digested.Digest().String()
	}
	return reference.TagNameOnly(named).String()
}
