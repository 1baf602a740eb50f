package kubelet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// snapshot is what a sync saw. It is never changed: each sync publishes a new one. See podView for what goes on since then.
type snapshot struct {
	pods     []podSnapshot // by full name
	complete bool          // every source was read
	at       time.Time
	newer    chan struct{} // closed when there is a newer snapshot
}

// publish replaces the snapshot, and then logs what has come up: the log is not ahead of the status.
func (kl *Kubelet) publish() {
	s := &snapshot{complete: len(kl.desired.unsynced) == 0, at: time.Now(), newer: make(chan struct{})}
	names := slices.Sorted(maps.Keys(kl.pods))
	for _, name := range names {
		s.pods = append(s.pods, kl.pods[name].podSnapshot)
	}
	if old := kl.snapshot.Swap(s); old != nil {
		close(old.newer)
	}
	for _, name := range names {
		kl.logState(kl.pods[name])
	}
}

// currentSnapshot returns the snapshot of the last sync.
func (kl *Kubelet) currentSnapshot() (*snapshot, error) {
	if s := kl.snapshot.Load(); s != nil {
		return s, nil
	}
	return nil, cmp.Or(kl.Health(), errNoSyncYet)
}

// Statuses returns the status of every pod, by full name, as the last sync saw it, and a
// channel that is closed when there is a newer one. The error is why Docker cannot be looked
// at now. Statuses does not call Docker.
func (kl *Kubelet) Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, nil, err
	}
	if err := kl.dockerError(); err != nil {
		return nil, s.newer, err
	}
	errs := map[string]string{}
	for _, source := range kl.opts.Sources() {
		maps.Copy(errs, source.Stale)
	}
	for i := range s.pods {
		status := kl.view(&s.pods[i]).status()
		status.SourceError = errs[s.pods[i].name]
		pods = append(pods, status)
	}
	return pods, s.newer, nil
}

// Pods returns the desired pods by full name; none before the first sync.
func (kl *Kubelet) Pods() (pods []api.Pod) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil
	}
	for i := range s.pods {
		if pod := s.pods[i].pod; pod != nil {
			pods = append(pods, pod.Pod)
		}
	}
	return pods
}

// NeededImages returns the images of the desired pods. complete is false until a sync has known all of them.
func (kl *Kubelet) NeededImages() (images []string, complete bool) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, false
	}
	images = []string{kl.opts.NetworkContainerImage}
	for i := range s.pods {
		if pod := s.pods[i].pod; pod != nil {
			for _, c := range pod.Manifest.All() {
				images = append(images, c.Image)
			}
		}
	}
	return images, s.complete
}

// Events returns the events after a sequence number, oldest first.
func (kl *Kubelet) Events(after uint64) []api.Event { return kl.events.after(after) }

// Load returns how much there is to do.
func (kl *Kubelet) Load() api.Load {
	busy := kl.workers.Busy()
	load := api.Load{Workers: len(busy)}
	load.Pulls, load.Queued = kl.images.Load()
	if s := kl.snapshot.Load(); s != nil {
		for i := range s.pods {
			p := &s.pods[i]
			hasWork := len(p.plan.Steps) > 0 || !p.plan.Next.IsZero()
			if hasWork && !busy[p.name] && p.wait.Reason != api.ReasonSourceNotReady { // nobody knows whether it is wanted
				load.Waiting++
			}
		}
	}
	return load
}

// podView is a pod as it is shown: what the last sync saw, and what goes on since then.
type podView struct {
	*podSnapshot
	doing        map[string]plan.Problem // what the worker is doing now, by container name
	pullProgress func(image string) string
	probeResult  func(*plan.Observed, *api.Container) (unhealthy, notReady string)
}

// view returns a pod of a snapshot with what goes on now.
func (kl *Kubelet) view(s *podSnapshot) *podView {
	v := &podView{podSnapshot: s, doing: map[string]plan.Problem{}, pullProgress: kl.images.Progress, probeResult: kl.probes.Result}
	for name, value := range kl.doing.Range {
		doing := value.(plan.Problem)
		if name.(dockertools.NameParts).PodFullName == s.name && doing.Message > v.doing[doing.Container].Message { // any one of two attempts
			v.doing[doing.Container] = doing
		}
	}
	return v
}

// note records what the worker is doing to a container, until end is called.
func (w *work) note(a plan.Action, reason, format string, args ...any) (end func()) {
	w.kl.doing.Store(a.Name, plan.Problem{Container: a.Name.Name, Reason: reason, Message: fmt.Sprintf(format, args...)})
	return func() { w.kl.doing.Delete(a.Name) }
}
