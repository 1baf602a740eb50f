package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// podKey is what makes two pods of one source the same pod.
type podKey struct{ namespace, name string }

func keyOf(pod *api.Pod) podKey {
	return podKey{pod.Namespace, pod.Name}
}

// podSet is the pods of one source. No two have the same UID, all are valid, and
// none is ever changed: two sets hold the same form of a pod when they hold the
// same pointer.
type podSet map[podKey]*api.Pod

// podChange is how one podSet became another.
type podChange struct {
	added, updated, removed []*api.Pod
}

func compare(before, after podSet) podChange {
	var change podChange
	for key, pod := range after {
		if old, ok := before[key]; !ok {
			change.added = append(change.added, pod)
		} else if old != pod {
			change.updated = append(change.updated, pod)
		}
	}
	for key, pod := range before {
		if _, ok := after[key]; !ok {
			change.removed = append(change.removed, pod)
		}
	}
	return change
}

// mergePods returns what the source's pods are after an update, and an error
// that names each pod it refused. A refused pod stays as it was: 2014 let it go,
// so a typo killed the pod. It returns nil pods for an operation it does not
// know.
func mergePods(old podSet, source string, update api.PodUpdate, rules validation.Rules) (podSet, error) {
	var pods podSet
	switch update.Op {
	case api.SET:
		pods = make(podSet, len(update.Pods))
	case api.ADD, api.UPDATE:
		pods = maps.Clone(old)
	case api.REMOVE:
		pods = maps.Clone(old)
		for i := range update.Pods {
			delete(pods, keyOf(&update.Pods[i]))
		}
		return pods, nil
	default:
		return nil, fmt.Errorf("merge update with operation %d: %v", update.Op, update.Op)
	}

	var refused []error
	given := make(map[podKey]*api.Pod, len(update.Pods))
	for i := range update.Pods {
		pod := &update.Pods[i]
		key := keyOf(pod)
		known := old[key]
		if known == nil || !samePod(known, pod) {
			stamped := *pod
			stamped.Source = source
			pod = &stamped
		} else {
			pod = known // valid since it was stored
		}
		err := error(nil)
		if first, twice := given[key]; twice {
			err = fmt.Errorf("pod %v is given a second time, first as %v: remove one of the two", pod, first)
		} else if given[key] = pod; pod != known {
			err = invalid(pod, rules)
		}
		if err != nil {
			refused = append(refused, err)
			pod = known
		}
		put(pods, key, pod)
	}
	refused = append(refused, refuseSharedUIDs(pods, old)...)
	return pods, errors.Join(refused...)
}

// put stores pod, or makes sure that none is stored when it is nil.
func put(pods podSet, key podKey, pod *api.Pod) {
	if pod == nil {
		delete(pods, key)
		return
	}
	pods[key] = pod
}

func invalid(pod *api.Pod, rules validation.Rules) error {
	if errs := rules.ValidatePod(pod); len(errs) > 0 {
		return fmt.Errorf("pod %v is invalid: %w", pod, errs)
	}
	return nil
}

// samePod ignores Source, which the storage stamps.
func samePod(a, b *api.Pod) bool {
	return a.UID == b.UID && a.Origin == b.Origin && reflect.DeepEqual(&a.Manifest, &b.Manifest)
}

// refuseSharedUIDs takes back every new form whose UID another pod has too. Old
// forms share none, so they are safe to go back to; but going back can bring
// back a UID that a third pod has just taken, so it looks again until all is
// well.
func refuseSharedUIDs(pods, old podSet) []error {
	var refused []error
	for {
		back := sharers(pods, old)
		if len(back) == 0 {
			return refused
		}
		for _, pair := range back {
			refused = append(refused, fmt.Errorf("pod %v has the UID %q of pod %v: give one of them another uuid", pair[0], pair[0].UID, pair[1]))
			put(pods, keyOf(pair[0]), old[keyOf(pair[0])])
		}
	}
}

// sharers returns each pod in a new form whose UID is taken, with the pod that
// has it too, sorted by name.
func sharers(pods, old podSet) [][2]*api.Pod {
	var fresh []*api.Pod
	for key, pod := range pods {
		if pod != old[key] {
			fresh = append(fresh, pod)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	byUID := make(map[string][]*api.Pod, len(pods))
	for _, pod := range pods {
		byUID[pod.UID] = append(byUID[pod.UID], pod)
	}
	byName := func(a, b *api.Pod) int { return strings.Compare(a.FullName(), b.FullName()) }
	slices.SortFunc(fresh, byName)
	var pairs [][2]*api.Pod
	for _, pod := range fresh {
		others := slices.DeleteFunc(slices.Clone(byUID[pod.UID]), func(p *api.Pod) bool { return p == pod })
		if len(others) > 0 {
			pairs = append(pairs, [2]*api.Pod{pod, slices.MinFunc(others, byName)})
		}
	}
	return pairs
}
