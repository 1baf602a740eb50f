package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"kubelet14/api"
)

const maxServices = 300 // of one source, with their ports and selectors: each pod has a copy

// checkServices returns the services that count, sorted by name. One with the name of a pod that it does not select, and one that
// is too many, is an error of its input.
func (s *source) checkServices(services []api.Service, pods []api.Pod) (good []api.Service) {
	slices.SortStableFunc(services, func(a, b api.Service) int { return cmp.Compare(a.Name, b.Name) })
	for i, size := 0, 0; i < len(services) && size <= maxServices; i++ {
		service, err := &services[i], error(nil)
		taken := slices.IndexFunc(pods, func(p api.Pod) bool {
			return p.Namespace == service.Namespace && p.Name == service.Name && !service.Selects(p.Manifest.Labels)
		})
		if size += 1 + len(service.Ports) + len(service.Selector); size > maxServices {
			err = fmt.Errorf("service %q (%s) and those after it are too many: %d services, ports and labels are the limit",
				service.Name, service.Origin, maxServices)
		} else if taken >= 0 {
			err = fmt.Errorf("service %q (%s) has the name of a pod that it does not select (%s): give one of them another",
				service.Name, service.Origin, pods[taken].Origin)
		}
		if err == nil {
			resolveTargets(service, pods)
			good = append(good, *service)
			continue
		}
		in := s.owners[serviceID(service)]
		in.duplicate = errors.Join(in.duplicate, err)
	}
	return good
}

// resolveTargets gives each port of a service that has a name in its pods the number of the first pod that has one of this name.
func resolveTargets(service *api.Service, pods []api.Pod) {
	service.Ports, service.Ignored = slices.Clone(service.Ports), slices.Clone(service.Ignored) // an input has them too
	for i, target := range service.Targets {
		first := slices.IndexFunc(pods, func(p api.Pod) bool {
			return target != "" && p.Namespace == service.Namespace && service.Selects(p.Manifest.Labels) && p.Manifest.PortNamed(target) != 0
		})
		if first >= 0 {
			service.SetTarget(i, pods[first].Manifest.PortNamed(target))
		}
	}
}

// addServices gives a pod the services of its namespace. Of these only what the pod gets from them is copied, so that
// a service that moves to another file changes no pod.
func addServices(pod *api.Pod, services []api.Service) {
	pod.Manifest.Services = nil
	for _, service := range services {
		if service.Namespace == pod.Namespace {
			service.Origin, service.Ignored, service.Targets = "", nil, nil
			pod.Manifest.Services = append(pod.Manifest.Services, service)
		}
	}
}
