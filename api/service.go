package api

import "fmt"

// Service gives its name to the pods of its namespace that it selects. What a pod gets from services is in no hash, so a service
// that comes or goes restarts nothing.
type Service struct {
	Name      string            // DNS label
	Namespace string            // empty when just decoded: NamespaceDefault
	Origin    string            // place in the source, as a Pod has it; empty in the manifest of a pod
	Ignored   []string          // fields that mean nothing here, as a manifest has them; empty in the manifest of a pod
	Selector  map[string]string // labels of the pods
	Ports     []Port            // of the pods; they publish nothing
	Targets   []string          // for each of Ports the name of it in the pods, or ""; none in the manifest of a pod
}

// SetTarget sets the number that a port has in the pods. There is no proxy, so the Service's own number works nowhere.
func (s *Service) SetTarget(i, number int) {
	if port := s.Ports[i].ContainerPort; port != number {
		s.Ignored = append(s.Ignored, fmt.Sprintf(
			"spec.ports[%d].port (nothing forwards port %d: connect to %d, or publish that with hostPort)", i, port, number))
	}
	s.Ports[i].ContainerPort = number
}

// ServiceNames returns the names that services give the pod in the pod network.
func (p *Pod) ServiceNames() (names []string) {
	for _, service := range p.Manifest.Services {
		if service.Selects(p.Manifest.Labels) && !p.Manifest.HostNetwork {
			names = append(names, service.Name+"."+p.Namespace)
		}
	}
	return names
}

// Selects reports whether a pod with these labels belongs to the service.
func (s *Service) Selects(labels map[string]string) bool {
	for key, value := range s.Selector {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}
