package kubelet

import (
	"cmp"
	"regexp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// setCommand sets the environment and the command of a container. In a Pod of today $(NAME)
// stands for a variable: in the environment for one before it, in the command for any.
func (kl *Kubelet) setCommand(spec *dockertools.ContainerSpec, pod *plan.Pod, c *api.Container, podIP string) {
	vars := map[string]string{}
	expand := func(text string) string { return text }
	if pod.Complete.Version == api.VersionV1 {
		expand = func(text string) string { return expandReferences(text, vars) }
	}
	fields := map[string]string{
		api.FieldName: pod.Name, api.FieldNamespace: pod.Namespace, api.FieldUID: pod.UID, api.FieldPodIP: podIP,
		api.FieldNodeName: kl.opts.Identity.Hostname,
	}
	for _, env := range c.Env {
		value := cmp.Or(fields[env.FieldPath], expand(env.Value))
		if env.FieldPath == api.FieldHostIP { // which asks for a route
			value = dockertools.HostIP()
		}
		vars[env.Name] = value
		spec.Env = append(spec.Env, env.Name+"="+value)
	}
	for _, word := range c.Entrypoint {
		spec.Entrypoint = append(spec.Entrypoint, expand(word))
	}
	for _, word := range c.Command {
		spec.Command = append(spec.Command, expand(word))
	}
}

var reference = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// expandReferences replaces $(NAME) by the variable, unless there is none, and $$ by $.
func expandReferences(text string, vars map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := vars[found[2:len(found)-1]]; ok {
			return value
		}
		return found
	})
}
