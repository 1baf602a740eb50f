package plan

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/envvars"
)

// ServiceNames returns the names that services give the pod in the pod network.
func (p *Pod) ServiceNames() (names []string) {
	for _, service := range p.Complete.Services {
		if service.Selects(p.Complete.Labels) && !p.Complete.HostNetwork {
			names = append(names, service.Name+"."+p.Namespace)
		}
	}
	return names
}

// NetworkNames returns the names of the pod in the pod network.
func (p *Pod) NetworkNames() []string {
	names := append(p.ServiceNames(), p.Name+"."+p.Namespace)
	if p.Complete.Subdomain != "" {
		names = append(names, p.Hostname+"."+p.Complete.Subdomain+"."+p.Namespace)
	}
	return names
}

// ServiceEnv returns the variables of services, except those that a container sets itself. There are none in the host's network.
func (p *Pod) ServiceEnv(c *api.Container) []api.EnvVar {
	if p.Complete.HostNetwork || !*cmp.Or(p.Complete.EnableServiceLinks, new(true)) {
		return nil
	}
	return slices.DeleteFunc(envvars.FromServices(p.Complete.Services), func(env api.EnvVar) bool {
		return slices.ContainsFunc(c.Env, func(own api.EnvVar) bool { return own.Name == env.Name })
	})
}

// servicesHash returns a hash of the names or variables that services give a container, or "" if there are none.
func servicesHash[T any](gives []T) string {
	if len(gives) == 0 {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(gives))))[:16]
}
