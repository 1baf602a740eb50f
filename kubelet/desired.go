package kubelet

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// desired is the desired state as the updates describe it so far.
type desired struct {
	known    bool                 // a SET has arrived
	pods     map[string]*plan.Pod // by full name
	unsynced map[string]error     // sources that are not ready, see api.PodUpdate
}

// apply applies an update and calls changed for each pod that is new, changed or gone. A
// pod that is unchanged keeps its pointer, so that a worker busy with it goes on.
func (d *desired) apply(u api.PodUpdate, networkImage string, changed func(podFullName, change string)) {
	pods := map[string]*plan.Pod{}
	if u.Op == api.SET {
		d.known = true
	} else {
		maps.Copy(pods, d.pods)
	}
	for _, pod := range u.Pods {
		// In 2014 an UPDATE was matched by UID alone: with empty UIDs, one changed pod
		// overwrote all others.
		name := pod.FullName()
		old := d.pods[name]
		switch {
		case old == nil:
			changed(name, "it is wanted from now on")
		case reflect.DeepEqual(old.Pod, pod):
			pods[name] = old
			continue
		default:
			changed(name, "its manifest has changed")
		}
		pods[name] = plan.NewPod(pod, networkImage, time.Now(), lifecycleLabel)
	}
	for _, name := range slices.Sorted(maps.Keys(d.pods)) {
		if pods[name] == nil {
			changed(name, "it is no longer wanted")
		}
	}
	d.pods, d.unsynced = pods, u.Unsynced
}

// mayBeRemoved reports whether a pod is not desired. A source that is not ready may still
// name it.
func (d *desired) mayBeRemoved(podFullName string) bool {
	_, _, source := api.SplitFullName(podFullName)
	_, unsynced := d.unsynced[source]
	return d.pods[podFullName] == nil && !unsynced
}

// count returns "1 pod" or "2 pods".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
