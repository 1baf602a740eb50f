package kubelet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// view is what the last sync saw. It is never changed: each sync publishes a new one.
type view struct {
	pods     []podView     // by full name
	replaced chan struct{} // closed when there is a newer one
}

// publish shows everyone what the sync has seen.
func (kl *Kubelet) publish() {
	v := &view{replaced: make(chan struct{})}
	for _, name := range slices.Sorted(maps.Keys(kl.pods)) {
		p := kl.pods[name]
		blocked := p.blocked
		if p.lookErr != nil {
			blocked = trouble{reason: api.ReasonDocker, message: p.lookErr.Error()}
		}
		v.pods = append(v.pods, podView{
			name: name, origin: p.origin, want: p.want, seen: p.containers, plan: p.plan, blocked: blocked,
			troubles: p.troubles.list, progress: kl.images.progress,
		})
	}
	if before := kl.view.Swap(v); before != nil {
		close(before.replaced)
	}
}

// current is the newest view; before the first sync it is an error.
func (kl *Kubelet) current() (*view, error) {
	if v := kl.view.Load(); v != nil {
		return v, nil
	}
	return nil, cmp.Or(kl.Health(), errNotBegun)
}

// Statuses says what has become of every pod, by full name, as the last sync saw it. It
// asks nobody.
func (kl *Kubelet) Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error) {
	v, err := kl.current()
	if err != nil {
		return nil, nil, err
	}
	if err := kl.health.dockerError(); err != nil {
		return nil, v.replaced, err
	}
	errs := kl.opts.SourceErrors()
	for i := range v.pods {
		status := v.pods[i].status()
		status.SourceError = errs[status.Source]
		pods = append(pods, status)
	}
	return pods, v.replaced, nil
}

// Pods gives the pods that are wanted, by full name; none before the first sync.
func (kl *Kubelet) Pods() []api.Pod {
	v := kl.view.Load()
	if v == nil {
		return nil
	}
	var wanted []api.Pod
	for i := range v.pods {
		if v.pods[i].want != nil {
			wanted = append(wanted, v.pods[i].want.Pod)
		}
	}
	return wanted
}

// Events gives the last things that the kubelet did to pods, those after a number, and a
// channel that is closed when there is another.
func (kl *Kubelet) Events(after uint64) (newer []api.Event, more <-chan struct{}) {
	return kl.events.after(after)
}

// Load says how much there is to do.
func (kl *Kubelet) Load() api.Load {
	var load api.Load
	load.Pulls, load.Queued = kl.images.load()
	load.Workers = len(kl.podWorkers.Busy())
	return load
}

// foundContainer is a container of a pod as the last sync saw it.
type foundContainer struct {
	pod      *wantedPod       // nil when the pod is not wanted
	want     *wantedContainer // nil when the pod is not wanted, or not with such a container
	attempts []seenContainer  // the oldest first
	newer    <-chan struct{}  // closed at the next sync
}

type notFoundError struct{ text string }

func (e *notFoundError) Error() string { return e.text }
func (e *notFoundError) Unwrap() error { return api.ErrNotFound }

func notFound(format string, args ...any) error {
	return &notFoundError{fmt.Sprintf(format, args...)}
}

// findContainer finds a container of a pod that is wanted or being removed. An error
// that is api.ErrNotFound says that there is no such pod, or that it has no such
// container and is not to have one.
func (kl *Kubelet) findContainer(podFullName, name string) (*foundContainer, error) {
	v, err := kl.current()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(v.pods, func(p podView) bool { return p.name == podFullName })
	if i < 0 {
		return nil, notFound("there is no pod %s", podFullName)
	}
	pod := &v.pods[i]
	found := &foundContainer{pod: pod.want, newer: v.replaced}
	if pod.want != nil {
		found.want = pod.want.container(name)
	}
	for _, c := range pod.seen {
		if c.Of.Name == name && c.State != dockertools.StateRemoving {
			found.attempts = append(found.attempts, c)
		}
	}
	if found.want == nil && len(found.attempts) == 0 {
		return nil, notFound("pod %s has no container %q", podFullName, name)
	}
	return found, nil
}

// newest is the attempt that counts, or nil when none has been created.
func (f *foundContainer) newest() *seenContainer {
	if len(f.attempts) == 0 {
		return nil
	}
	return &f.attempts[len(f.attempts)-1]
}

// findRunning is the newest attempt of a container, provided that it runs.
func (kl *Kubelet) findRunning(podFullName, name string) (*foundContainer, *seenContainer, error) {
	f, err := kl.findContainer(podFullName, name)
	if err != nil {
		return nil, nil, err
	}
	switch c := f.newest(); {
	case c == nil:
		return nil, nil, notCreatedYet(podFullName, name)
	case c.State == dockertools.StatePaused:
		return nil, nil, notFound("container %q of pod %s is paused: docker unpause %s", name, podFullName, c.Name)
	case c.State != dockertools.StateRunning:
		return nil, nil, notFound("container %q of pod %s does not run: kubelet14 -status says why", name, podFullName)
	default:
		return f, c, nil
	}
}

func notCreatedYet(podFullName, container string) error {
	return notFound("container %q of pod %s has not been created yet: kubelet14 -status says what it waits for", container, podFullName)
}

// overForGood says that nothing more will run: neither this attempt nor another.
func (f *foundContainer) overForGood() bool {
	c := f.newest()
	return f.want != nil && f.want.spec != nil && c != nil && c.Of.UID == f.pod.UID && f.pod.ranForTheLastTime(f.want, c)
}
