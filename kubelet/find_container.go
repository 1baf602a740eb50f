package kubelet

import (
	"context"
	"fmt"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// foundContainer is a container of a pod as Docker shows it now.
type foundContainer struct {
	pod      *wantedPod       // nil when the pod is not wanted
	want     *wantedContainer // nil when the pod is not wanted, or not with such a container
	attempts []seenContainer  // the oldest first; all of one UID, since those of an earlier one go before others are made
}

// notFoundError is an error about what is not there.
type notFoundError struct{ text string }

func (e *notFoundError) Error() string { return e.text }
func (e *notFoundError) Unwrap() error { return api.ErrNotFound }

func notFound(format string, args ...any) error {
	return &notFoundError{fmt.Sprintf(format, args...)}
}

func notCreatedYet(podFullName, container string) error {
	return notFound("container %q of pod %s has not been created yet: kubelet14 -status says what it waits for", container, podFullName)
}

// findContainer looks at a container of a pod that is wanted or being removed. An
// error that is api.ErrNotFound says that there is no such pod, or that it is not to
// have such a container and has none. It may be called at any time by any goroutine.
func (kl *Kubelet) findContainer(ctx context.Context, podFullName, name string) (*foundContainer, error) {
	pods, err := kl.known()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(pods, func(pod reported) bool { return pod.state.fullName == podFullName })
	if i < 0 {
		return nil, notFound("there is no pod %s", podFullName)
	}
	pod := pods[i]
	list, err := kl.list(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := kl.observePod(ctx, list, pod.state, nil)
	if err != nil {
		return nil, err
	}
	found := &foundContainer{pod: pod.want}
	if pod.want != nil {
		found.want = pod.want.container(name)
	}
	for i := range seen {
		c := &seen[i]
		if c.Of.Name == name && c.State != dockertools.StateRemoving {
			found.attempts = append(found.attempts, *c)
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

// running is the newest attempt, provided that it can be asked something.
func (f *foundContainer) running(podFullName, name string) (*seenContainer, error) {
	switch c := f.newest(); {
	case c == nil:
		return nil, notCreatedYet(podFullName, name)
	case c.State == dockertools.StatePaused:
		return nil, notFound("container %q of pod %s is paused: docker unpause %s", name, podFullName, c.Name)
	case c.State != dockertools.StateRunning:
		return nil, notFound("container %q of pod %s does not run: kubelet14 -status says why", name, podFullName)
	default:
		return c, nil
	}
}

// overForGood says that nothing more will run: neither this attempt nor another.
func (f *foundContainer) overForGood() bool {
	c := f.newest()
	return f.want != nil && f.want.spec != nil && c != nil && c.Of.UID == f.pod.UID && f.pod.ranForTheLastTime(f.want, c)
}
