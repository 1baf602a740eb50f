package config

import (
	"cmp"
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// maxProblems of one text are told; nobody reads more.
const maxProblems = 50

// Parser makes pods of text, in the same way for every source.
type Parser struct {
	Hostname string // goes into the UIDs of pods without a uuid
	Scheme   *api.Scheme
	Rules    validation.Rules
}

// manifests reads the manifest or the manifests that a file holds: decode, then
// validate. file is a label for people. The error tells everything that is wrong
// with any of them, each with its place and an excerpt; then none counts.
func (p Parser) manifests(file string, data []byte) ([]api.Document, error) {
	docs, err := p.Scheme.Decode(file, data)
	return docs, p.validate(file, docs, err)
}

// manifestsOrList is manifests, and reads a list of manifests too.
func (p Parser) manifestsOrList(file string, data []byte) ([]api.Document, error) {
	docs, err := p.Scheme.DecodeList(file, data)
	return docs, p.validate(file, docs, err)
}

// validate adds what is wrong with the documents to an error of decoding them.
func (p Parser) validate(file string, docs []api.Document, err error) error {
	var errs []error
	if err != nil {
		errs = append(errs, err)
	}
	for i := range docs {
		for _, e := range p.Rules.ValidateManifest(&docs[i].Manifest) {
			errs = append(errs, docs[i].At(e.Field, e.Problem))
		}
	}
	if more := len(errs) - maxProblems; more > 0 {
		errs = append(errs[:maxProblems], fmt.Errorf("%s: and %d more; mend these first", file, more))
	}
	return errors.Join(errs...)
}

// pods gives each manifest of one place its identity, which depends on nothing
// but the manifest's id and the place. nameless names the one with a number, from
// 1, that has no id. The error names two that would be the same pod.
func (p Parser) pods(source, place string, docs []api.Document, nameless func(number int) string) ([]api.Pod, error) {
	pods := make([]api.Pod, len(docs))
	claimed := map[claim]*api.Pod{}
	for i, doc := range docs {
		pod := &pods[i]
		*pod = api.Pod{
			Name:      cmp.Or(doc.Manifest.ID, nameless(doc.Number)),
			Namespace: api.NamespaceDefault,
			UID:       doc.Manifest.UUID,
			Source:    source,
			Origin:    place,
			Manifest:  doc.Manifest,
		}
		if where := doc.Where(); where != "" {
			pod.Origin = fmt.Sprintf("%s (%s)", place, where)
		}
		if !validation.IsDNSSubdomain(pod.Name) {
			return nil, fmt.Errorf("%s: the manifest has no id, and %q cannot be a pod's name: give it an id", pod.Origin, pod.Name)
		}
		if pod.UID == "" {
			pod.UID = api.NewUID(p.Hostname, source, pod.Namespace, pod.Name)
		}
		for _, c := range claimsOf(pod) {
			if first := claimed[c]; first != nil {
				return nil, fmt.Errorf("%s: change or remove one of the two", c.shared(pod, first))
			}
			claimed[c] = pod
		}
	}
	return pods, nil
}
