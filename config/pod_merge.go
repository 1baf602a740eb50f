package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// podSet is pods by full name. Those of one source are all valid, and none is ever
// changed: two sets hold the same form of a pod when they hold the same pointer.
type podSet map[string]*api.Pod

// compare says how one podSet became another.
func compare(before, after podSet) (added, updated, removed podSet) {
	added, updated, removed = podSet{}, podSet{}, podSet{}
	for name, pod := range after {
		switch before[name] {
		case nil:
			added[name] = pod
		case pod:
		default:
			updated[name] = pod
		}
	}
	for name, pod := range before {
		if after[name] == nil {
			removed[name] = pod
		}
	}
	return added, updated, removed
}

// mergePods returns what the source's pods are after an update, and an error
// that names each pod it refused, which stays as it was. It returns nil pods for
// an operation it does not know.
func mergePods(old podSet, source string, update api.PodUpdate, rules validation.Rules) (podSet, error) {
	pods := podSet{}
	switch update.Op {
	case api.SET:
	case api.ADD, api.UPDATE, api.REMOVE:
		pods = maps.Clone(old)
	default:
		return nil, fmt.Errorf("merge update with operation %d: %v", update.Op, update.Op)
	}

	var refused []error
	given := make(podSet, len(update.Pods))
	for _, pod := range update.Pods {
		pod.Source = source
		name := pod.FullName()
		if update.Op == api.REMOVE {
			delete(pods, name)
			continue
		}
		first, known := given[name], old[name]
		given[name] = &pod
		switch {
		case first != nil:
			refused = append(refused, fmt.Errorf("pod %v is given a second time, first as %v: remove one of the two", &pod, first))
			pods.goBack(name, old)
		case known != nil && reflect.DeepEqual(known, &pod):
			pods[name] = known // valid since it was stored
		default:
			pods[name] = &pod
			if errs := rules.ValidatePod(&pod); len(errs) > 0 {
				refused = append(refused, fmt.Errorf("pod %v is invalid: %w", &pod, errs))
				pods.goBack(name, old)
			}
		}
	}
	return pods, errors.Join(refused...)
}

// goBack gives the pod its old form again; without one it has none.
func (pods podSet) goBack(name string, old podSet) {
	if pod := old[name]; pod != nil {
		pods[name] = pod
	} else {
		delete(pods, name)
	}
}
