package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

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

// RunInContainer runs a command, without a shell, in a running container of a pod that is
// desired or being removed. It writes the command's output to out and returns its exit code.
func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error) {
	_, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return 0, err
	}
	exitCode, err = kl.docker.Exec(ctx, c.ID, command, out)
	return exitCode, justEnded(err, podFullName, container)
}

// ContainerStats measures a running container of a pod that is desired or being removed.
func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	found, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	stats, err := kl.docker.Stats(ctx, c.ID)
	if err != nil {
		return api.ContainerStats{}, justEnded(err, podFullName, container)
	}
	stats.Created, stats.Image, stats.ID, stats.Name = c.Created, c.Image, c.ID, c.Name
	if found.want != nil && found.want.Spec != nil {
		stats.MemoryLimit, stats.CPUShares = found.want.Spec.Memory, cpuShares(found.want.Spec.CPU)
	}
	return stats, nil
}

// findRunning finds the newest attempt of a container if it is running.
func (kl *Kubelet) findRunning(podFullName, name string) (*foundContainer, *plan.Observed, error) {
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

// justEnded returns a better error if the container has ended since the last sync.
func justEnded(err error, podFullName, container string) error {
	if errors.Is(err, dockertools.ErrNoSuchContainer) || errors.Is(err, dockertools.ErrNotRunning) {
		return notFound("container %q of pod %s has just ended", container, podFullName)
	}
	return err
}
