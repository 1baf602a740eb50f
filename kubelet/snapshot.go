package kubelet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// snapshot is what a sync saw. It is never changed: each sync publishes a new one. See podView for what goes on since then.
type snapshot struct {
	pods  []podSnapshot // by full name
	newer chan struct{} // closed when there is a newer snapshot
}

// publish replaces the snapshot, and then logs what has come up: the log is not ahead of the status.
func (kl *Kubelet) publish() {
	s := &snapshot{newer: make(chan struct{})}
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

// notFound returns an error that wraps api.ErrNotFound.
func notFound(format string, args ...any) error { return notFoundError(fmt.Sprintf(format, args...)) }

type notFoundError string

func (e notFoundError) Error() string { return string(e) }
func (e notFoundError) Unwrap() error { return api.ErrNotFound }

// foundContainer is a container of a pod as the last sync saw it.
type foundContainer struct {
	pod      *plan.Pod       // nil if the pod is not desired
	want     *plan.Container // nil if the container is not desired
	attempts []plan.Observed // oldest first
	newer    <-chan struct{} // closed when there is a newer snapshot
}

// findContainer finds a container of a pod that is desired or being removed. The error wraps
// api.ErrNotFound if there is no such container and will be none.
func (kl *Kubelet) findContainer(podFullName, name string) (*foundContainer, error) {
	s, err := kl.currentSnapshot()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(s.pods, func(p podSnapshot) bool { return p.name == podFullName })
	if i < 0 {
		return nil, notFound("there is no pod %s", podFullName)
	}
	f := &foundContainer{pod: s.pods[i].pod, newer: s.newer}
	if f.pod != nil {
		f.want = f.pod.Container(name)
	}
	for _, c := range s.pods[i].containers {
		if c.Of.Name == name && c.State != dockertools.StateRemoving {
			f.attempts = append(f.attempts, c)
		}
	}
	if f.want == nil && len(f.attempts) == 0 {
		return nil, notFound("pod %s has no container %q", podFullName, name)
	}
	return f, nil
}

// newest returns the attempt that counts, or nil if none was created.
func (f *foundContainer) newest() *plan.Observed {
	if len(f.attempts) == 0 {
		return nil
	}
	return &f.attempts[len(f.attempts)-1]
}

// done reports whether the container never runs again.
func (f *foundContainer) done() bool {
	c := f.newest()
	return f.want != nil && f.want.Spec != nil && c != nil && c.Of.UID == f.pod.UID && f.pod.Done(f.want, c)
}
