package kubelet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// stopGrace is how long a container may take to end by itself when it is asked to.
const stopGrace = 10 * time.Second

// planRun is one plan being carried out.
type planRun struct {
	kl    *Kubelet
	want  *wantedPod // nil when the pod is being removed
	label string     // of the pod, for people

	mu      sync.Mutex
	created map[string]created // what this run has created, by container name
	failed  map[string]bool    // names of containers of which an action failed
	errs    []error
}

// created is a container that exists since a moment ago.
type created struct {
	id      string
	attempt int // may be later than planned: a stranger's name costs one
}

// run carries out a plan, step by step, the actions of a step side by side. After
// a failed action nothing more is done to the container of that name: what could
// not be replaced is not stopped. After one on the network container nothing
// more is done at all. It stops between two steps when a newer wish has come.
func (kl *Kubelet) run(ctx context.Context, want *wantedPod, label string, steps [][]action, overtaken func() bool) error {
	r := planRun{kl: kl, want: want, label: label, created: map[string]created{}, failed: map[string]bool{}}
	for _, step := range steps {
		if overtaken() || r.failed[api.NetworkContainerName] || ctx.Err() != nil {
			break
		}
		step = slices.DeleteFunc(slices.Clone(step), func(a action) bool { return r.failed[a.name.Name] })
		var wg sync.WaitGroup
		for _, a := range step {
			wg.Go(func() { r.act(ctx, a) })
		}
		wg.Wait()
	}
	return errors.Join(r.errs...)
}

// act carries out one action and keeps what came of it.
func (r *planRun) act(ctx context.Context, a action) {
	made, err := r.do(ctx, &a)
	if err != nil {
		err = fmt.Errorf("container %q: %w", a.name.Name, err)
	} else {
		level := glog.Level(0) // a person wants to know what was started and stopped
		if a.kind == createAction || a.kind == removeAction {
			level = 2
		}
		glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", r.label, a.kind.done(), a.name.Name, a.name.Attempt, a.reason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed[a.name.Name] = true
		r.errs = append(r.errs, err)
	} else if a.kind == createAction {
		r.created[a.name.Name] = made
	}
}

// do makes the Docker call. A container that is gone has been stopped and removed.
// The action's attempt becomes that of the container it was done to.
func (r *planRun) do(ctx context.Context, a *action) (made created, err error) {
	docker := r.kl.docker
	if a.id == "" && a.kind != createAction {
		made = r.madeFor(a.name.Name)
		a.id, a.name.Attempt = made.id, made.attempt
	}
	switch a.kind {
	case createAction:
		made.id, err = r.create(ctx, a)
		made.attempt = a.name.Attempt
	case startAction:
		defer r.kl.slot()()
		// A start that fails leaves its reason in the container, where an inspect
		// made before does not show it.
		defer r.kl.lister.Forget(a.id)
		err = docker.StartContainer(ctx, a.id)
	case stopAction:
		err = docker.StopContainer(ctx, a.id, stopGrace)
	case removeAction:
		err = docker.RemoveContainer(ctx, a.id)
	}
	if a.kind != startAction && errors.Is(err, dockertools.ErrNoSuchContainer) {
		err = nil
	}
	return made, err
}

func (r *planRun) madeFor(name string) created {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.created[name]
}

// create makes a container. Docker's rule that names are unique is the lock: when
// the name is one of ours after all, because an earlier call did its work and its
// answer was lost, the next look finds it; when a stranger has it, that costs one
// attempt number.
func (r *planRun) create(ctx context.Context, a *action) (id string, err error) {
	netID := a.netID
	if netID == "" && a.want.spec != nil {
		netID = r.madeFor(api.NetworkContainerName).id
	}
	spec, err := r.kl.containerSpec(r.want, *a, netID)
	if err != nil {
		return "", err
	}
	defer r.kl.slot()()
	for range 10 {
		id, err = r.kl.docker.CreateContainer(ctx, spec)
		switch {
		case errors.Is(err, dockertools.ErrNoSuchImage) && spec.Image == dockertools.PauseImage:
			if err := r.kl.importPauseImage(ctx); err != nil {
				return "", err
			}
			continue
		case errors.Is(err, dockertools.ErrNoSuchImage):
			return "", fmt.Errorf("%w; `docker pull %s` gets it, or correct the image in %s", err, spec.Image, r.want.Origin)
		case !errors.Is(err, dockertools.ErrNameTaken):
			return id, err
		}
		list, listErr := r.kl.lister.List(ctx, r.kl.lister.Mark())
		if listErr != nil {
			return "", errors.Join(err, listErr)
		}
		for i := range list {
			if list[i].Name == spec.Name {
				return "", fmt.Errorf("%w by a container of this pod that was not listed before", err)
			}
		}
		a.name.Attempt++
		r.kl.rename(&spec, a.name)
	}
	return "", err
}

// slot waits for one of the places for creations and starts, and returns what
// gives it back.
func (kl *Kubelet) slot() (release func()) {
	kl.slots <- struct{}{}
	return func() { <-kl.slots }
}

// importPauseImage makes the built-in network container image when it is missing.
// Workers of many pods may find that out at once; one of them imports it.
func (kl *Kubelet) importPauseImage(ctx context.Context) error {
	kl.pauseImage.Lock()
	defer kl.pauseImage.Unlock()
	return dockertools.EnsurePauseImage(ctx, kl.docker)
}
