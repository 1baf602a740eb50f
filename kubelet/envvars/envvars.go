// Package envvars makes the environment variables that tell a container of the services of its namespace, in the form of Docker's
// links. Upstream it has the same name; there the host is a service's own address, and here its name in the pod network.
package envvars

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kubelet14/api"
)

// Of returns the variables of services that a container gets: all but those that it sets itself, and none in the host's network.
func Of(m *api.ContainerManifest, c *api.Container) []api.EnvVar {
	if m.HostNetwork || !*cmp.Or(m.EnableServiceLinks, new(true)) {
		return nil
	}
	return slices.DeleteFunc(FromServices(m.Services), func(env api.EnvVar) bool {
		return slices.ContainsFunc(c.Env, func(own api.EnvVar) bool { return own.Name == env.Name })
	})
}

// FromServices returns the variables of services.
func FromServices(services []api.Service) (env []api.EnvVar) {
	for _, service := range services {
		prefix := name(service.Name)
		add := func(name, format string, args ...any) {
			env = append(env, api.EnvVar{Name: prefix + name, Value: fmt.Sprintf(format, args...)})
		}
		add("_SERVICE_HOST", "%s", service.Name)
		for i, p := range service.Ports {
			protocol := strings.ToLower(string(p.Protocol))
			link := fmt.Sprintf("_PORT_%d_%s", p.ContainerPort, p.Protocol)
			if i == 0 {
				add("_SERVICE_PORT", "%d", p.ContainerPort)
				add("_PORT", "%s://%s:%d", protocol, service.Name, p.ContainerPort)
			}
			if p.Name != "" {
				add("_SERVICE_PORT_"+name(p.Name), "%d", p.ContainerPort)
			}
			add(link, "%s://%s:%d", protocol, service.Name, p.ContainerPort)
			add(link+"_PROTO", "%s", protocol)
			add(link+"_PORT", "%d", p.ContainerPort)
			add(link+"_ADDR", "%s", service.Name)
		}
	}
	return env
}

// name returns what stands for a name in that of a variable.
func name(s string) string { return strings.ToUpper(strings.ReplaceAll(s, "-", "_")) }
