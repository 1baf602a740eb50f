package configmaps

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/api/validation"
	"kubelet14/kubelet/envvars"
	"kubelet14/kubelet/plan"
)

// Variables are the environment variables of a container.
type Variables struct {
	List  []string          // NAME=VALUE, each name once
	Value map[string]string // by name
	Used  string            // a hash of those that come from objects; empty: none does
}

// Variables returns those of a container: of services, then of its envFrom, then of its env; a later one replaces an earlier one. In a
// v1 Pod $(NAME) in a value that is written there stands for an earlier one. field returns the value of a field that is not in
// the pod's metadata.
//
// The error is a plan.Problem that says what is missing. Keys of envFrom that cannot be names are left out, and noted.
func (s *Store) Variables(pod *plan.Pod, c *api.Container, field func(path string) string) (v Variables, err error) {
	from, skipped, err := s.fromObjects(pod, c)
	if err != nil {
		return v, err
	}
	if len(skipped) > 0 {
		s.note(pod.FullName(), c.Name, "InvalidEnvironmentVariableNames", "these keys of envFrom are no names, or no text, and were left out: "+strings.Join(skipped, ", "))
	}
	v.Value, v.Used = map[string]string{}, used(pod, from)
	var names []string
	for _, env := range slices.Concat(variables(envvars.Of(&pod.Complete, c)), from) {
		switch {
		case env.FieldPath != "":
			env.Value = pod.Field(env.FieldPath) + field(env.FieldPath) // one of them is empty
		case env.ResourceRef != nil:
			env.Value = amount(&pod.Complete, c.Name, env.ResourceRef)
		case !env.ofObject && pod.Complete.Version == api.VersionV1:
			env.Value = envvars.Expand(env.Value, v.Value)
		}
		if _, again := v.Value[env.Name]; !again {
			names = append(names, env.Name)
		}
		v.Value[env.Name] = env.Value
	}
	for _, name := range names {
		v.List = append(v.List, name+"="+v.Value[name])
	}
	return v, nil
}

// variable is a variable whose value may come from an object.
type variable struct {
	api.EnvVar
	ofObject bool
}

func variables(vars []api.EnvVar) (all []variable) {
	for _, v := range vars {
		all = append(all, variable{EnvVar: v})
	}
	return all
}

// fromObjects returns the variables of envFrom and env with the values of objects, and the keys of envFrom that are left out.
func (s *Store) fromObjects(pod *plan.Pod, c *api.Container) (vars []variable, skipped []string, err error) {
	for _, from := range c.EnvFrom {
		o, err := s.find(pod, from.Ref(), "")
		if err != nil {
			return nil, nil, err
		}
		if o == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(o.Data)) {
			if name := from.Prefix + key; validation.IsEnvName(name) && api.IsText(o.Data[key]) {
				vars = append(vars, variable{api.EnvVar{Name: name, Value: string(o.Data[key])}, true})
			} else if len(skipped) < api.MaxMistakes {
				skipped = append(skipped, key)
			}
		}
	}
	for _, env := range c.Env {
		ref, key := env.Ref()
		if key == "" {
			vars = append(vars, variable{EnvVar: env})
			continue
		}
		value, err := s.value(pod, ref, key)
		switch {
		case err != nil:
			return nil, nil, err
		case !api.IsText(value):
			return nil, nil, problem("the value of key %q in %s %q is no text, so it cannot be variable %s: mount it as a file", key, ref.Kind, ref.Name, env.Name)
		case value != nil:
			vars = append(vars, variable{api.EnvVar{Name: env.Name, Value: string(value)}, true})
		}
	}
	return vars, skipped, nil
}

// used returns a hash of the variables that come from objects. It is in a label, beside the values in the container's environment, so
// that a change of them is seen later. No other pod has the same hash of a value.
func used(pod *plan.Pod, vars []variable) string {
	hash, some := sha256.New(), false
	fmt.Fprintf(hash, "%q", pod.UID)
	for _, v := range vars {
		if v.ofObject {
			some = true
			fmt.Fprintf(hash, "%q%q", v.Name, v.Value)
		}
	}
	if !some {
		return ""
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:16]
}
