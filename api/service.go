package api

// Service gives its name to the pods of its namespace that it selects. What a pod gets from services is in no hash, so a service
// that comes or goes restarts nothing.
type Service struct {
	Name      string            // DNS label
	Namespace string            // empty when just decoded: NamespaceDefault
	Origin    string            // place in the source, as a Pod has it; empty in the manifest of a pod
	Ignored   []string          // fields that mean nothing here, as a manifest has them; empty in the manifest of a pod
	Selector  map[string]string // labels of the pods
	Ports     []Port            // of the pods; they publish nothing
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
