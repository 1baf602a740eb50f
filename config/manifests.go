package config

import (
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// maxProblems of one text are told; nobody reads more.
const maxProblems = 50

// parseManifests reads every manifest in the text: decode, then validate. file
// is a label for people. Either all are good, or the error tells everything that
// is wrong with any of them, each with its place and an excerpt.
func parseManifests(scheme *api.Scheme, rules validation.Rules, file string, data []byte) ([]api.ContainerManifest, error) {
	docs, err := scheme.Decode(file, data)
	var errs []error
	if err != nil {
		errs = append(errs, err)
	}
	manifests := make([]api.ContainerManifest, len(docs))
	for i := range docs {
		manifests[i] = docs[i].Manifest
		for _, e := range rules.ValidateManifest(&docs[i].Manifest) {
			errs = append(errs, docs[i].At(e.Field, e.Problem()))
		}
	}
	if more := len(errs) - maxProblems; more > 0 {
		errs = append(errs[:maxProblems], fmt.Errorf("%s: and %d more; mend these first", file, more))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return manifests, nil
}
