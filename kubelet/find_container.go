package kubelet

import (
	"fmt"
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
