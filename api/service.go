package api

// Services is what a pod has to do with services. It is in no hash, so a service that comes or goes restarts nothing.
type Services struct {
	Kind string    // "service" if this is no pod, but the one service in Of
	Of   []Service // those of the pod's namespace and source, sorted by name
}

// Service gives its name to the pods that it selects.
type Service struct {
	Name     string
	Selector map[string]string
	Ports    []Port // of the pods; they publish nothing
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
