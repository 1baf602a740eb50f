package kubelet

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/envvars"
	"kubelet14/kubelet/plan"
)

// networkNames returns the names of a pod in the pod network, but for the bare one.
func networkNames(pod *plan.Pod) []string {
	return append(serviceNames(pod), pod.Name+"."+pod.Namespace)
}

// serviceNames returns the names that services give a pod in the pod network.
func serviceNames(pod *plan.Pod) (names []string) {
	for _, service := range pod.Complete.Services.Of {
		if service.Selects(pod.Complete.Labels) && !pod.Complete.HostNetwork {
			names = append(names, service.Name+"."+pod.Namespace)
		}
	}
	return names
}

// serviceEnv returns the variables of services that a container does not have itself. In the network of the host they mean nothing.
func serviceEnv(pod *plan.Pod, c *api.Container) []api.EnvVar {
	if pod.Complete.HostNetwork || !*cmp.Or(pod.Complete.EnableServiceLinks, new(true)) {
		return nil
	}
	return slices.DeleteFunc(envvars.FromServices(pod.Complete.Services.Of), func(env api.EnvVar) bool {
		return slices.ContainsFunc(c.Env, func(own api.EnvVar) bool { return own.Name == env.Name })
	})
}

// servicesLabel returns a hash of what a container gets from services, or "" for nothing.
func servicesLabel(pod *plan.Pod, c *plan.Container) string {
	gets := fmt.Sprint(serviceNames(pod))
	if c.Spec != nil {
		gets = fmt.Sprint(serviceEnv(pod, c.Spec))
	}
	if gets == "[]" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(gets)))[:16]
}

// changeOf says what has changed in a pod.
func changeOf(before, after api.Pod) string {
	before.Manifest.Services = after.Manifest.Services
	if reflect.DeepEqual(before, after) {
		return "the services of its namespace have changed"
	}
	return "its manifest has changed"
}
