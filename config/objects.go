package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"kubelet14/api"
)

// object is what a text has: a pod, or what goes with pods.
type object struct {
	objectID
	value any // an api.Pod or an api.Service
}

// objectID names one object of a source.
type objectID struct{ kind, namespace, name string }

func podID(pod *api.Pod) objectID { return objectID{"pod", pod.Namespace, pod.Name} }

func serviceID(service *api.Service) objectID {
	return objectID{"service", service.Namespace, service.Name}
}

// byKind returns the objects of each kind, in their order.
func byKind(objects []object) (pods []api.Pod, services []api.Service) {
	for _, o := range objects {
		switch value := o.value.(type) {
		case api.Pod:
			pods = append(pods, value)
		case api.Service:
			services = append(services, value)
		}
	}
	return pods, services
}

// rejectDuplicates returns the objects of the inputs, each name once: that of the owner, which had
// the name first, if it still has it, else that of the only input that has it, else none.
func (s *source) rejectDuplicates(inputs []*input) (objects []object) {
	places, owners := map[objectID][]string{}, map[objectID]string{}
	for _, in := range inputs {
		for _, o := range in.lastGood {
			places[o.objectID] = append(places[o.objectID], in.place)
		}
	}
	for name, places := range places {
		if owner := s.owners[name]; slices.Contains(places, owner) {
			owners[name] = owner
		} else if len(places) == 1 {
			owners[name] = places[0]
		}
	}
	for _, in := range inputs {
		var duplicates []error
		for _, o := range in.lastGood {
			owner, used := owners[o.objectID], "none"
			if owner != "" {
				used = "that of " + owner
			}
			switch first := cmp.Or(owner, places[o.objectID][0]); in.place {
			case owner:
				objects = append(objects, o)
			case first: // the error of the others names it
			default:
				duplicates = append(duplicates, fmt.Errorf("%s %q is in %s and %s: keep one of them; until then %s is used",
					o.kind, o.name, first, in.place, used))
			}
		}
		in.duplicate = errors.Join(duplicates[:min(len(duplicates), api.MaxProblems)]...)
	}
	s.owners = owners
	return objects
}
