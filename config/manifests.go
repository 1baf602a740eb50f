package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/validation"
	"kubelet14/kubelet/trace"
)

// Parser makes pods of text, in the same way for every source.
type Parser struct {
	Hostname string // is part of the UIDs of pods without a uuid
	Scheme   *api.Scheme
	Rules    validation.Rules
	Trace    *trace.Trace // of what is read; may be nil
}

// pods decodes and validates the manifests of a text and gives each its identity, which depends only on the manifest's id and
// the place. defaultName names the manifest with a number, from 1, that has no id. The error lists what is wrong with any
// manifest; then there are no pods.
func (p Parser) pods(source, place string, text []byte, defaultName func(number int) string) ([]api.Pod, error) {
	place = label(place)
	docs, err := p.Scheme.Decode(place, text, p.Rules.ValidateManifest)
	if err != nil {
		return nil, err
	}
	pods := make([]api.Pod, len(docs))
	origins := map[string]string{} // by full name
	for i, doc := range docs {
		pod := &pods[i]
		*pod = api.Pod{
			Name:      cmp.Or(doc.Manifest.ID, defaultName(i+1)),
			Namespace: cmp.Or(doc.Manifest.Namespace, api.NamespaceDefault),
			UID:       doc.Manifest.UUID,
			Source:    cmp.Or(doc.Manifest.Services.Kind, source),
			Origin:    place,
			Manifest:  doc.Manifest,
		}
		if pod.UID == "" {
			pod.UID = api.NewUID(p.Hostname, source, pod.Namespace, pod.Name)
		}
		if where := doc.Where; where != "" {
			pod.Origin = fmt.Sprintf("%s (%s)", place, where)
		}
		if !validation.IsDNSSubdomain(pod.Name) {
			return nil, fmt.Errorf("%s: the manifest has no id, and %q cannot be a pod's name: give it an id", pod.Origin, pod.Name)
		}
		if first := origins[pod.FullName()]; first != "" {
			return nil, fmt.Errorf("%s %q is in %s and %s: keep one of them", cmp.Or(doc.Manifest.Services.Kind, "pod"), pod.Name, first, pod.Origin)
		}
		origins[pod.FullName()] = pod.Origin
	}
	return pods, nil
}

// logIgnored logs the ignored fields of each pod that was not among those before.
func logIgnored(before, pods []api.Pod) {
	for _, pod := range pods {
		ignored, same := pod.Manifest.Ignored, func(old api.Pod) bool {
			old.Manifest.Services = pod.Manifest.Services
			return reflect.DeepEqual(old, pod)
		}
		if len(ignored) > 0 && !slices.ContainsFunc(before, same) {
			glog.Warningf("pod %s: these fields mean nothing here: %s", &pod, strings.Join(ignored, ", "))
		}
	}
}
