package config

import (
	"errors"
	"fmt"
	"slices"

	"kubelet14/api"
)

// object is what a text has: a pod, or what goes with pods.
type object struct {
	objectID
	value any // an api.Pod, an api.Service, an *api.ConfigObject, or a string that says why the object is left out
}

// objectID names one object of a source.
type objectID struct{ kind, namespace, name string }

func podID(pod *api.Pod) objectID { return objectID{"pod", pod.Namespace, pod.Name} }

func serviceID(service *api.Service) objectID {
	return objectID{"service", service.Namespace, service.Name}
}

func configID(o *api.ConfigObject) objectID { return objectID{o.Kind, o.Namespace, o.Name} }

// byKind returns the objects of each kind, and what is left out, in their order.
func byKind(objects []object) (pods []api.Pod, services []api.Service, configs []*api.ConfigObject, leftOut []string) {
	for _, o := range objects {
		switch value := o.value.(type) {
		case api.Pod:
			pods = append(pods, value)
		case api.Service:
			services = append(services, value)
		case *api.ConfigObject:
			configs = append(configs, value)
		case string:
			leftOut = append(leftOut, value)
		}
	}
	return pods, services, configs, leftOut
}

// rejectDuplicates returns the objects of the inputs, each name once: that of the owner, which had
// the name first, if it still has it, else that of the only input that has it, else none.
func (s *source) rejectDuplicates(inputs []*input) (objects []object) {
	holders := map[objectID][]*input{}
	for _, in := range inputs {
		for _, o := range in.lastGood {
			holders[o.objectID] = append(holders[o.objectID], in)
		}
	}
	owners := map[objectID]*input{}
	for id, all := range holders {
		if owner := s.owners[id]; slices.Contains(all, owner) {
			owners[id] = owner
		} else if len(all) == 1 {
			owners[id] = all[0]
		}
	}
	s.owners = owners
	for _, in := range inputs {
		var errs []error
		for _, o := range in.lastGood {
			owner, first := owners[o.objectID], holders[o.objectID][0]
			switch {
			case in == owner:
				objects = append(objects, o)
			case owner != nil:
				errs = append(errs, duplicate(o.objectID, owner, in, "that of "+owner.label))
			case in != first: // the errors of the others name the first
				errs = append(errs, duplicate(o.objectID, first, in, "none"))
			}
		}
		in.duplicate = errors.Join(errs[:min(len(errs), api.MaxMistakes)]...)
	}
	return objects
}

func duplicate(id objectID, a, b *input, used string) error {
	return fmt.Errorf("%s %q is in %s and %s: keep one of them; until then %s is used", id.kind, id.name, a.label, b.label, used)
}
