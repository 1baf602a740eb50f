package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"kubelet14/api"
)

const maxServices = 300 // of one source, with their ports and selectors: each pod has a copy

// withServices returns the pods, each with the services of its namespace. A service with the name of a pod that it does not select
// is left out, and is an error of its input.
func (s *source) withServices(all []api.Pod) []api.Pod {
	isService := func(p api.Pod) bool { return p.Manifest.Services.Kind != "" }
	pods := slices.DeleteFunc(slices.Clone(all), isService)
	services := slices.DeleteFunc(slices.Clone(all), func(p api.Pod) bool { return !isService(p) })
	slices.SortStableFunc(services, func(a, b api.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i, size := 0, 0; i < len(services) && size <= maxServices; i++ {
		doc, service, err := services[i], services[i].Manifest.Services.Of[0], error(nil)
		taken := slices.IndexFunc(pods, func(p api.Pod) bool {
			return p.Namespace == doc.Namespace && p.Name == service.Name && !service.Selects(p.Manifest.Labels)
		})
		if size += 1 + len(service.Ports) + len(service.Selector); size > maxServices {
			err = fmt.Errorf("service %q (%s) and those after it are too many: %d services, ports and labels are the limit", service.Name, doc.Origin, maxServices)
		} else if taken >= 0 {
			err = fmt.Errorf("service %q (%s) has the name of a pod that it does not select (%s): give one of them another",
				service.Name, doc.Origin, pods[taken].Origin)
		}
		for _, in := range s.inputs {
			if err != nil && in.place == s.owners[doc.FullName()] {
				in.duplicate = errors.Join(in.duplicate, err)
			}
		}
		for i := range pods {
			if of := &pods[i].Manifest.Services.Of; err == nil && pods[i].Namespace == doc.Namespace {
				*of = append(*of, service)
			}
		}
	}
	return pods
}
