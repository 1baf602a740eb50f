package kubelet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
)

// SyncPods compares what is wanted with one list of what is there, and gives
// every pod to its worker: those that are wanted, to be made so, and those that
// have containers and are not wanted, to be removed. Then it sets aside the
// volumes that nobody needs. It does not wait for the workers.
func (kl *Kubelet) SyncPods(ctx context.Context) error {
	since := kl.lister.Mark()
	list, err := kl.lister.List(ctx, since)
	if err != nil {
		return err
	}
	blocked := kl.blocked(ctx, list)
	kl.anyBlocked = len(blocked) > 0
	for name, pod := range kl.desired.pods {
		kl.work(name, pod.Origin, wish{pod: pod, blocked: blocked[name]}, since)
	}
	unwanted := kl.unwanted(list)
	for name, origin := range unwanted {
		kl.work(name, origin, wish{}, since)
	}
	for name := range kl.podStates {
		if _, listed := unwanted[name]; !listed {
			kl.dropState(name, since)
		}
	}
	kl.report(blocked)
	kl.setAsideOrphans(list, since)
	return nil
}

// unwanted finds the pods that have containers and are not wanted, and where they
// were read. A pod whose source is silent is not among them: it may be wanted.
func (kl *Kubelet) unwanted(list []dockertools.Owned) (origins map[string]string) {
	origins = originsOf(list)
	maps.DeleteFunc(origins, func(name, _ string) bool {
		return kl.desired.pods[name] != nil || kl.desired.isSilent(name)
	})
	return origins
}

// originsOf says where the pods of a list were read, by full name.
func originsOf(list []dockertools.Owned) (origins map[string]string) {
	origins = map[string]string{}
	for i := range list {
		origins[list[i].Of.PodFullName] = list[i].Labels[dockertools.LabelOrigin]
	}
	return origins
}

// work gives a pod's worker a wish, to be compared with a list begun after since.
func (kl *Kubelet) work(podFullName, origin string, w wish, since dockertools.Mark) {
	state := kl.stateOf(podFullName)
	state.ask(w, origin, since)
	kl.podWorkers.Run(podFullName, func(ctx context.Context) time.Time { return kl.syncPod(ctx, state) })
}

// stateOf is what the kubelet keeps of a pod while it is wanted or has a worker.
func (kl *Kubelet) stateOf(podFullName string) *podState {
	state := kl.podStates[podFullName]
	if state == nil {
		state = newPodState(podFullName, kl.events)
		kl.podStates[podFullName] = state
	}
	return state
}

// dropState forgets a pod that is not wanted and has no containers. While it has a
// worker, that may be about to make some, and it may have made some that a list begun
// after since does not show: it is told to remove them.
func (kl *Kubelet) dropState(podFullName string, since dockertools.Mark) {
	switch {
	case kl.desired.pods[podFullName] != nil || kl.desired.isSilent(podFullName):
	case kl.podWorkers.Has(podFullName) || len(kl.podStates[podFullName].madeSince(since)) > 0:
		kl.work(podFullName, "", wish{}, since)
	default:
		delete(kl.podStates, podFullName)
		kl.images.forget(podFullName, "")
	}
}

// blocked says which pods must wait for a UID or for a port of the host, and why. A pod
// that cannot be looked at wants its ports, and holds up no other: its worker tells of it.
func (kl *Kubelet) blocked(ctx context.Context, list []dockertools.Owned) map[string]trouble {
	byName := func(a, b *wantedPod) int { return strings.Compare(a.fullName, b.fullName) }
	pods := slices.SortedFunc(maps.Values(kl.desired.pods), byName)
	blocked := sharedUIDs(pods, list)
	var published []*wantedPod
	for _, pod := range pods {
		if len(pod.ports) == 0 || blocked[pod.fullName].message != "" {
			continue
		}
		if pod.manifest.RestartPolicy.Always == nil { // it may have done its work
			seen, err := kl.observePod(ctx, list, kl.stateOf(pod.fullName), nil)
			if err == nil && plan(pod, seen, kl.limits, time.Now()).finished {
				continue
			}
		}
		published = append(published, pod)
	}
	maps.Copy(blocked, admit(published, list))
	return blocked
}
