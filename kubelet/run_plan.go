package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
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
	overtaken context.Context // done when a newer wish has come

	mu       sync.Mutex
	created  map[string]*action // that this run has carried out, by container name
	troubles map[string]trouble // of containers of which an action could not be done
	acted    bool               // something was done
	panicked string             // the panic of an action, and its stack; empty when there was none
}

// run carries out a plan, step by step, the actions of a step side by side. After
// an action that could not be done nothing more is done to the container of that
// name: what could not be replaced is not stopped. After one on the network
// container nothing more is done at all. It stops between two steps when a newer
// wish has come. It says what could not be done, and whether anything was.
func (kl *Kubelet) run(ctx context.Context, state *podState, want *wantedPod, steps [][]action, overtaken context.Context) (troubles []trouble, acted bool) {
	r := planRun{
		kl: kl, state: state, want: want, overtaken: overtaken,
		created: map[string]*action{}, troubles: map[string]trouble{},
	}
	defer func() {
		state.acted = kl.lister.Mark()
		kl.vitals.change(state.acted)
	}()
	for _, step := range steps {
		if _, stuck := r.troubles[api.NetworkContainerName]; stuck || ctx.Err() != nil || overtaken.Err() != nil {
			break
		}
		step = slices.DeleteFunc(slices.Clone(step), func(a action) bool {
			_, stuck := r.troubles[a.name.Name]
			return stuck
		})
		var wg sync.WaitGroup
		for _, a := range step {
			wg.Go(func() {
				defer r.catch()
				r.act(ctx, a)
			})
		}
		wg.Wait()
		if r.panicked != "" {
			panic(r.panicked) // of the pod's worker now, which is made for it
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.troubles)) {
		troubles = append(troubles, r.troubles[name])
	}
	return troubles, r.acted
}

// catch keeps the panic of an action, which would end the whole program: nobody else
// can recover it in a goroutine of its own.
func (r *planRun) catch() {
	if p := recover(); p != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
	}
}

// act carries out one action and keeps what came of it.
func (r *planRun) act(ctx context.Context, a action) {
	err := r.do(ctx, &a)
	if errors.Is(err, errOvertaken) {
		return
	}
	if err == nil {
		level := glog.Level(0) // a person wants to know what was started and stopped
		if a.kind == createAction || a.kind == removeAction {
			level = 2
		}
		glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", r.state.label(), a.kind.done(), a.name.Name, a.name.Attempt, a.reason)
		r.kl.events.remember(a.name.PodFullName, a.name.Name, a.kind.event(), a.what())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acted = r.acted || err == nil
	if err != nil {
		r.troubles[a.name.Name] = troubleOf(&a, err)
		return
	}
	r.state.mended(a.name.Name)
	if a.kind == createAction {
		r.created[a.name.Name] = &a
	}
}

// do makes the Docker calls. What the action does not know of a container that this
// run has created is filled in.
func (r *planRun) do(ctx context.Context, a *action) (err error) {
	r.mu.Lock()
	if made := r.created[a.name.Name]; made != nil && a.id == "" {
		a.id, a.name.Attempt = made.id, made.name.Attempt
	}
	if net := r.created[api.NetworkContainerName]; net != nil && a.netID == "" {
		a.netID = net.id
	}
	r.mu.Unlock()
	switch a.kind {
	case createAction:
		err = r.create(ctx, a)
	case startAction:
		defer r.kl.slot()()
		// A start that fails leaves its reason in the container, where an inspect
		// made before does not show it.
		defer r.kl.lister.Forget(a.id)
		err = r.kl.docker.StartContainer(ctx, a.id)
	case hookAction:
		err = r.postStart(ctx, a)
	case stopAction:
		if err = r.kl.stop(ctx, a); err == nil && a.cause != "" {
			r.note(a, a.cause)
		}
	case removeAction:
		err = r.kl.remove(ctx, a)
	}
	return err
}

// note remembers why a container is stopped that has done something wrong.
func (r *planRun) note(a *action, reason string) {
	r.state.remember(a.id, func(m *memory) { m.killed = trouble{container: a.name.Name, reason: reason, message: a.reason} })
}

// remove removes a container, unless it is gone, and its termination message.
func (kl *Kubelet) remove(ctx context.Context, a *action) error {
	if err := kl.docker.RemoveContainer(ctx, a.id); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	return kl.opts.Volumes.RemoveTerminationFile(a.name.UID, terminationFile(a.name))
}

// create makes a container, once its image is there, and notes its id in the action;
// its attempt may be later than planned. Docker's rule that names are
// unique is the lock: when the name is one of ours after all, because an earlier
// call did its work and its answer was lost, the next look finds it; when a
// stranger has it, that costs one attempt number.
func (r *planRun) create(ctx context.Context, a *action) (err error) {
	if a.pull {
		if err := r.kl.pullFirst(ctx, a); err != nil {
			return err
		}
	}
	defer r.kl.slot()()
	for range 10 {
		var spec dockertools.ContainerSpec
		if spec, err = r.kl.containerSpec(ctx, r.want, *a); err != nil {
			return err
		}
		a.id, err = r.kl.docker.CreateContainer(ctx, spec)
		again := err
		switch {
		case err == nil:
			r.kl.images.forget(a.name.PodFullName, a.name.Name)
			return nil
		case errors.Is(err, dockertools.ErrNoSuchImage):
			again = r.kl.getImage(ctx, a, spec.Image, err)
		case errors.Is(err, dockertools.ErrNameTaken):
			again = r.passBy(ctx, a, err)
		}
		if again != nil {
			return again
		}
	}
	return err
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
