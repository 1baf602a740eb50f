package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"kubelet14/api"
)

// withServices returns the pods, each with the services of its namespace. A service with the name of a pod that it does not select
// is left out, and is an error of its input.
func (s *source) withServices(all []api.Pod) []api.Pod {
	isService := func(p api.Pod) bool { return p.Manifest.Services.Kind != "" }
	pods := slices.DeleteFunc(slices.Clone(all), isService)
	for _, doc := range all {
		if !isService(doc) {
			continue
		}
		service := doc.Manifest.Services.Of[0]
		taken := slices.IndexFunc(pods, func(p api.Pod) bool {
			return p.Namespace == doc.Namespace && p.Name == service.Name && !service.Selects(p.Manifest.Labels)
		})
		for _, in := range s.inputs {
			if taken >= 0 && in.place == s.owners[doc.FullName()] {
				in.duplicate = errors.Join(in.duplicate, fmt.Errorf("service %q (%s) has the name of a pod that it does not select (%s): give one of them another",
					service.Name, doc.Origin, pods[taken].Origin))
			}
		}
		for i := range pods {
			if of := &pods[i].Manifest.Services.Of; taken < 0 && pods[i].Namespace == doc.Namespace {
				*of = append(*of, service)
				slices.SortFunc(*of, func(a, b api.Service) int { return cmp.Compare(a.Name, b.Name) })
			}
		}
	}
	return pods
}
