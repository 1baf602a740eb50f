package config

import (
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// maxProblems of one text are told; nobody reads more.
const maxProblems = 50

// parseManifests reads every manifest in the text: decode, then validate. file
// is a label for people. The error tells everything that is wrong with any of
// them, each with its place and an excerpt; then none counts.
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
	return manifests, errors.Join(errs...)
}

// podsOf parses a file and gives each of its manifests its identity, which
// depends on nothing but the manifest's id and its place.
func (s *SourceFile) podsOf(file string, data []byte) ([]api.Pod, error) {
	manifests, err := s.parse(file, data)
	if err != nil {
		return nil, err
	}
	pods := make([]api.Pod, len(manifests))
	claimed := map[claim]*api.Pod{}
	for i, manifest := range manifests {
		pod := &pods[i]
		*pod = api.Pod{
			Name:      manifest.ID,
			Namespace: api.NamespaceDefault,
			UID:       manifest.UUID,
			Source:    "file",
			Origin:    file,
			Manifest:  manifest,
		}
		if len(manifests) > 1 {
			pod.Origin = fmt.Sprintf("%s (document %d)", file, i+1)
		}
		if pod.Name == "" {
			pod.Name = pathHash(file)
			if i > 0 {
				pod.Name = fmt.Sprintf("%s-%d", pod.Name, i+1)
			}
		}
		if pod.UID == "" {
			pod.UID = api.NewUID(s.hostname, pod.Source, pod.Namespace, pod.Name)
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

// pathHash is the 2014 name of a pod whose manifest has no id: what is left of
// the file's name, cut to 15 letters and digits, and 30 letters and digits that
// stand for the whole path.
func pathHash(path string) string {
	readable := regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	sum := sha1.Sum([]byte(path))
	return readable[:min(len(readable), 15)] + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:30]
}
