package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// podSet is pods by full name. No pod in it is ever changed, so a pod is the same in
// two sets if the pointer is.
type podSet map[string]*api.Pod

// compare returns the difference between two sets.
func compare(before, after podSet) (added, updated, removed podSet) {
	added, updated, removed = maps.Clone(after), maps.Clone(after), maps.Clone(before)
	maps.DeleteFunc(added, func(name string, _ *api.Pod) bool { return before[name] != nil })
	maps.DeleteFunc(updated, func(name string, pod *api.Pod) bool { return before[name] == nil || before[name] == pod })
	maps.DeleteFunc(removed, func(name string, _ *api.Pod) bool { return after[name] != nil })
	return added, updated, removed
}

// mergePods returns the pods of a source after an update, and an error that names
// each rejected pod, which stays as it was. Whether privileged containers are allowed is
// a matter of the source and of the kubelet.
func mergePods(old podSet, source string, update api.PodUpdate) (podSet, error) {
	pods := podSet{}
	switch update.Op {
	case api.SET:
	case api.ADD, api.UPDATE, api.REMOVE:
		pods = maps.Clone(old)
	default:
		return old, fmt.Errorf("merge update with operation %d: %v", update.Op, update.Op)
	}
	var rejected []error
	seen := podSet{}
	for _, pod := range update.Pods {
		pod.Source = source
		name := pod.FullName()
		known, first := old[name], seen[name]
		seen[name] = &pod
		switch {
		case update.Op == api.REMOVE:
			delete(pods, name)
		case first != nil:
			rejected = append(rejected, fmt.Errorf("pod %v is given a second time, first as %v: remove one of the two", &pod, first))
		case known != nil && reflect.DeepEqual(known, &pod):
			pods[name] = known // and valid
		default:
			pods[name] = &pod
			if errs := (validation.Rules{AllowPrivileged: true}).ValidatePod(&pod); len(errs) > 0 {
				rejected = append(rejected, fmt.Errorf("pod %v is invalid: %w", &pod, errs))
				pods[name] = known
			}
		}
	}
	maps.DeleteFunc(pods, func(_ string, pod *api.Pod) bool { return pod == nil }) // invalid, and not known before
	return pods, errors.Join(rejected...)
}
