package kubelet

import (
	"maps"
	"reflect"
	"slices"

	"kubelet14/api"
)

// desired is what PodConfig has said so far.
type desired struct {
	pods   map[string]*wantedPod // by full name
	silent map[string]error      // sources that have not spoken, see api.PodUpdate
	heard  bool                  // a SET has come; before that nothing is known, not even that nothing is wanted
}

// apply takes over an update, and tells what of it is news. A pod that is as it was
// keeps its wantedPod, so that a worker in the middle of it is not disturbed.
func (d *desired) apply(u api.PodUpdate, networkImage string, tell func(podFullName, news string)) {
	pods := map[string]*wantedPod{}
	if u.Op == api.SET {
		d.heard = true
	} else {
		pods = d.pods
	}
	for _, pod := range u.Pods {
		name := pod.FullName()
		// 2014 matched an UPDATE by UID alone, so with empty UIDs one changed pod
		// overwrote all others.
		if known, ok := d.pods[name]; ok && reflect.DeepEqual(known.Pod, pod) {
			pods[name] = known
		} else {
			pods[name] = newWantedPod(pod, networkImage)
			if ok {
				tell(name, "its manifest has changed")
			} else {
				tell(name, "it is wanted from now on")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.pods)) {
		if pods[name] == nil {
			tell(name, "it is no longer wanted")
		}
	}
	d.pods = pods
	d.silent = u.Unsynced
}

// isSilent says that the source of a pod has not spoken, so that the pod may be
// wanted although it is not among the desired ones.
func (d *desired) isSilent(podFullName string) bool {
	_, _, source, _ := api.SplitFullName(podFullName)
	_, silent := d.silent[source]
	return silent
}
