package logs

import (
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// notFound returns an error that wraps api.ErrNotFound.
func notFound(format string, args ...any) error { return notFoundError(fmt.Sprintf(format, args...)) }

type notFoundError string

func (e notFoundError) Error() string { return string(e) }
func (e notFoundError) Unwrap() error { return api.ErrNotFound }

// found is a container of a pod as the last sync saw it.
type found struct {
	pod      *plan.Pod       // nil if the pod is not desired
	want     *plan.Container // nil if the container is not desired
	attempts []plan.Observed // oldest first
	newer    <-chan struct{} // closed when there is a newer snapshot
}

// find finds a container of a pod that is desired or being removed. The error wraps
// api.ErrNotFound if there is no such container and will be none.
func (r *Reader) find(podFullName, name string) (*found, error) {
	s, err := r.Snapshot()
	if err != nil {
		return nil, err
	}
	pod := s.Pod(podFullName)
	if pod == nil {
		return nil, notFound("there is no pod %s", podFullName)
	}
	f := &found{pod: pod.Desired, newer: s.Newer}
	if f.pod != nil {
		f.want = f.pod.Container(name)
	}
	for _, c := range pod.Observed {
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
func (f *found) newest() *plan.Observed {
	if len(f.attempts) == 0 {
		return nil
	}
	return &f.attempts[len(f.attempts)-1]
}

// done reports whether the container never runs again.
func (f *found) done() bool {
	c := f.newest()
	return f.want != nil && f.want.Spec != nil && c != nil && c.Of.UID == f.pod.UID && f.pod.Done(f.want, c)
}

// findRunning finds the newest attempt of a container if it is running.
func (r *Reader) findRunning(podFullName, name string) (*found, *plan.Observed, error) {
	f, err := r.find(podFullName, name)
	if err != nil {
		return nil, nil, err
	}
	switch c := f.newest(); {
	case c == nil:
		return nil, nil, notCreatedYet(podFullName, name)
	case c.State == dockertools.StatePaused:
		return nil, nil, notFound("container %q of pod %s is paused: docker unpause %s", name, podFullName, c.Name)
	case c.State != dockertools.StateRunning:
		return nil, nil, notFound("container %q of pod %s does not run: kubelet14 describe %[2]s says why", name, podFullName)
	default:
		return f, c, nil
	}
}

func notCreatedYet(podFullName, container string) error {
	return notFound("container %q of pod %s has not been created yet: kubelet14 describe %[2]s says what it waits for", container, podFullName)
}

// justEnded returns a better error if the container has ended since the last sync.
func justEnded(err error, podFullName, container string) error {
	if errors.Is(err, dockertools.ErrNoSuchContainer) || errors.Is(err, dockertools.ErrNotRunning) {
		return notFound("container %q of pod %s has just ended", container, podFullName)
	}
	return err
}
