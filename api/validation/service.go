package validation

import "kubelet14/api"

// validateService checks the fields that become names in the pod network or names of variables.
func validateService(s *api.Service) (errs api.Mistakes) {
	c, portNames := checker{errs: &errs}, names{}
	c.check(IsDNSLabel(s.Name), invalid, "name", s.Name, wantLabel)
	c.check(s.Namespace == "" || IsDNSLabel(s.Namespace), invalid, "namespace", s.Namespace, wantLabel)
	for i, p := range s.Ports {
		if p.Name != "" {
			c.in("ports[%d]", i).name(p.Name, portNames)
		}
	}
	return errs
}
