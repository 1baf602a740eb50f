package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	kl        *Kubelet
	state     *podState
	want      *wantedPod      // nil when the pod is being removed
	label     string          // of the pod, for people
	overtaken <-chan struct{} // closed when a newer wish has come; nil when none can

	mu       sync.Mutex
	created  map[string]created // what this run has created, by container name
	troubles map[string]trouble // of containers of which an action could not be done
	acted    bool               // something was done
}

// created is a container that exists since a moment ago.
type created struct {
	id      string
	attempt int // may be later than planned: a stranger's name costs one
}

// run carries out a plan, step by step, the actions of a step side by side. After
// an action that could not be done nothing more is done to the container of that
// name: what could not be replaced is not stopped. After one on the network
// container nothing more is done at all. It stops between two steps when a newer
// wish has come. It says what could not be done, and whether anything was.
func (kl *Kubelet) run(ctx context.Context, state *podState, want *wantedPod, steps [][]action, overtaken <-chan struct{}) (troubles []trouble, acted bool) {
	r := planRun{
		kl: kl, state: state, want: want, label: state.label(), overtaken: overtaken,
		created: map[string]created{}, troubles: map[string]trouble{},
	}
	for _, step := range steps {
		if _, stuck := r.troubles[api.NetworkContainerName]; stuck || ctx.Err() != nil || isClosed(overtaken) {
			break
		}
		step = slices.DeleteFunc(slices.Clone(step), func(a action) bool {
			_, stuck := r.troubles[a.name.Name]
			return stuck
		})
		var wg sync.WaitGroup
		for _, a := range step {
			wg.Go(func() { r.act(ctx, a) })
		}
		wg.Wait()
	}
	for _, name := range slices.Sorted(maps.Keys(r.troubles)) {
		troubles = append(troubles, r.troubles[name])
	}
	return troubles, r.acted
}

// isClosed says of a channel that nothing is sent on whether it is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// act carries out one action and keeps what came of it.
func (r *planRun) act(ctx context.Context, a action) {
	made, err := r.do(ctx, &a)
	if errors.Is(err, errOvertaken) {
		return
	}
	if err == nil {
		level := glog.Level(0) // a person wants to know what was started and stopped
		if a.kind == createAction || a.kind == removeAction {
			level = 2
		}
		glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", r.label, a.kind.done(), a.name.Name, a.name.Attempt, a.reason)
		r.event(&a, a.kind.event())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acted = r.acted || err == nil
	if err != nil {
		r.troubles[a.name.Name] = troubleOf(a, err)
	} else if a.kind == createAction {
		r.created[a.name.Name] = made
	}
}

func (r *planRun) event(a *action, reason string) {
	r.kl.events.remember(a.name.PodFullName, a.name.Name, reason, fmt.Sprintf("attempt %d: %s", a.name.Attempt, a.reason))
}

// do makes the Docker calls. A container that is gone has been stopped and removed.
// What the action does not know of a container that this run has created is filled in.
func (r *planRun) do(ctx context.Context, a *action) (made created, err error) {
	docker := r.kl.docker
	if a.kind != createAction && a.id == "" {
		made = r.madeFor(a.name.Name)
		a.id, a.name.Attempt = made.id, made.attempt
	}
	if a.netID == "" && a.name.Name != api.NetworkContainerName {
		a.netID = r.madeFor(api.NetworkContainerName).id
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
	case hookAction:
		err = r.postStart(ctx, a)
	case stopAction:
		r.event(a, "killing")
		if err = r.kl.stop(ctx, a); err == nil && a.cause != "" {
			r.note(a, a.cause)
		}
	case removeAction:
		err = r.kl.remove(ctx, a)
	}
	if (a.kind == stopAction || a.kind == removeAction) && errors.Is(err, dockertools.ErrNoSuchContainer) {
		err = nil
	}
	return made, err
}

// note remembers why a container is stopped that has done something wrong.
func (r *planRun) note(a *action, reason string) {
	r.state.remember(a.id, trouble{container: a.name.Name, reason: reason, message: a.reason})
}

// remove removes a container and its termination message.
func (kl *Kubelet) remove(ctx context.Context, a *action) error {
	if err := kl.docker.RemoveContainer(ctx, a.id); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	return kl.opts.Volumes.RemoveTerminationFile(a.name.UID, terminationFile(a.name))
}

func (r *planRun) madeFor(name string) created {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.created[name]
}

// create makes a container, once its image is there. Docker's rule that names are
// unique is the lock: when the name is one of ours after all, because an earlier
// call did its work and its answer was lost, the next look finds it; when a
// stranger has it, that costs one attempt number.
func (r *planRun) create(ctx context.Context, a *action) (id string, err error) {
	if a.pull {
		if err := r.kl.pullFirst(ctx, a); err != nil {
			return "", err
		}
	}
	defer r.kl.slot()()
	for range 10 {
		spec, specErr := r.kl.containerSpec(ctx, r.want, *a)
		if specErr != nil {
			return "", specErr
		}
		id, err = r.kl.docker.CreateContainer(ctx, spec)
		switch {
		case errors.Is(err, dockertools.ErrNoSuchImage):
			if err := r.kl.getImage(ctx, a, spec.Image, err); err != nil {
				return "", err
			}
		case errors.Is(err, dockertools.ErrNameTaken):
			if err := r.passBy(ctx, a, err); err != nil {
				return "", err
			}
		default:
			return id, err
		}
	}
	return "", err
}

// passBy leaves a taken name to whoever has it, unless that is this pod.
func (r *planRun) passBy(ctx context.Context, a *action, taken error) error {
	list, err := r.kl.lister.List(ctx, r.kl.lister.Mark())
	if err != nil {
		return errors.Join(taken, err)
	}
	for i := range list {
		if list[i].Name == a.name.String() {
			return fmt.Errorf("%w by a container of this pod that was not listed before", taken)
		}
	}
	a.name.Attempt++
	return nil
}

// slot waits for one of the places for creations and starts, and returns what
// gives it back.
func (kl *Kubelet) slot() (release func()) {
	kl.slots <- struct{}{}
	return func() { <-kl.slots }
}
