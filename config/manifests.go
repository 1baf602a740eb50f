package config

import (
	"errors"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// parseManifests reads every manifest in the text: decode, then validate. file
// is a label for people. Either all are good, or the error tells everything that
// is wrong with any of them, each with its place and an excerpt.
func parseManifests(scheme *api.Scheme, rules validation.Rules, file string, data []byte) ([]api.ContainerManifest, error) {
	docs, err := scheme.Decode(file, data)
	errs := []error{err}
	manifests := make([]api.ContainerManifest, len(docs))
	for i := range docs {
		manifests[i] = docs[i].Manifest
		for _, e := range rules.ValidateManifest(&docs[i].Manifest) {
			errs = append(errs, docs[i].At(e.Field, e.Problem()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return manifests, nil
}
