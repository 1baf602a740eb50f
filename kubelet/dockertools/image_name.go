package dockertools

import "github.com/distribution/reference"

// ImageName returns the full name of an image: busybox is docker.io/library/busybox:latest, and a tag beside a digest
// is dropped. Two names mean the same image if their full names are equal.
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
