package kubelet

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/watch"
)

// desired is the desired state as the updates describe it so far.
type desired struct {
	since    time.Time            // when the first SET arrived; zero: none has
	pods     map[string]*plan.Pod // by full name
	unsynced map[string]error     // sources that are not ready, see api.PodUpdate
}

// apply applies an update and calls changed for each pod that is new, changed or gone; a pod that is gone
// is nil. An unchanged pod keeps its pointer, so that a worker that is busy with it goes on.
func (d *desired) apply(u api.PodUpdate, networkImage string, changed func(name string, pod *plan.Pod, change watch.Change)) {
	pods := map[string]*plan.Pod{}
	if u.Op == api.SET {
		if d.since.IsZero() {
			d.since = time.Now()
		}
	} else {
		maps.Copy(pods, d.pods)
	}
	for _, pod := range u.Pods {
		// In 2014 an UPDATE was matched by UID alone: with empty UIDs, one changed pod overwrote all others.
		name := pod.FullName()
		old := d.pods[name]
		change := watch.Found
		switch {
		case old == nil:
		case reflect.DeepEqual(old.Pod, pod):
			pods[name] = old
			continue
		case old.UID == pod.UID && reflect.DeepEqual(old.Pod.Manifest, pod.Manifest): // its file was renamed
			glog.Infof("pod %s comes from %s now", name, pod.Origin)
			moved := *old
			moved.Origin = pod.Origin
			pods[name] = &moved
			continue
		default:
			change = changeOf(old.Pod, pod)
		}
		pods[name] = plan.NewPod(pod, networkImage, time.Now())
		changed(name, pods[name], change)
	}
	for _, name := range slices.Sorted(maps.Keys(d.pods)) {
		if pods[name] == nil {
			changed(name, nil, watch.NoLongerWanted)
		}
	}
	d.pods, d.unsynced = pods, u.Unsynced
}

// changeOf returns what has changed in a pod.
func changeOf(before, after api.Pod) watch.Change {
	before.Manifest.Services = after.Manifest.Services
	if reflect.DeepEqual(before, after) {
		return watch.ServicesChanged
	}
	return watch.Edited
}
