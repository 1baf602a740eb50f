package config

import (
	"cmp"
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// maxProblems is how many problems of one text an error lists.
const maxProblems = 50

// Parser makes pods of text, in the same way for every source.
type Parser struct {
	Hostname string // is part of the UIDs of pods without a uuid
	Scheme   *api.Scheme
	Rules    validation.Rules
}

// decodeFunc is Scheme.Decode or, for a text that may be a list, Scheme.DecodeList.
type decodeFunc func(place string, text []byte) ([]api.Document, error)

// pods decodes and validates the manifests of a text and gives each its identity,
// which depends only on the manifest's id and the place. defaultName names the
// manifest with a number, from 1, that has no id. The error lists everything that is
// wrong with any manifest, with lines and excerpts; then there are no pods.
func (p Parser) pods(source, place string, text []byte, decode decodeFunc, defaultName func(number int) string) ([]api.Pod, error) {
	docs, err := decode(place, text)
	if err := p.validate(place, docs, err); err != nil {
		return nil, err
	}
	pods := make([]api.Pod, len(docs))
	byName := map[string]*api.Pod{}
	for i, doc := range docs {
		pod := &pods[i]
		*pod = api.Pod{
			Name:      cmp.Or(doc.Manifest.ID, defaultName(doc.Number)),
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
		if first := byName[pod.Name]; first != nil {
			return nil, fmt.Errorf("pod %q is in %s and %s: keep one of them", pod.Name, first.Origin, pod.Origin)
		}
		byName[pod.Name] = pod
	}
	return pods, nil
}

// validate adds the problems of the documents to the error of decoding them.
func (p Parser) validate(place string, docs []api.Document, err error) error {
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
		errs = append(errs[:maxProblems], fmt.Errorf("%s: and %d more; fix these first", place, more))
	}
	return errors.Join(errs...)
}
