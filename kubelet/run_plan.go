package kubelet

import (
	"cmp"
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

// startWork has the pod's worker carry out its plan.
func (kl *Kubelet) startWork(ctx context.Context, p *podState) {
	w := &work{want: p.want}
	w.overtaken, w.overtake = context.WithCancel(context.Background())
	r := &planRun{kl: kl, pod: p, label: p.label(), work: w, created: map[string]*action{}, stuck: map[string]bool{}}
	steps := p.plan.steps
	p.work = w
	for _, t := range p.troubles.list() { // those that nothing is to be done about are over
		if !slices.ContainsFunc(slices.Concat(steps...), func(a action) bool { return a.name.Name == t.container }) {
			p.troubles.clear(t.container)
		}
	}
	kl.podWorkers.Run(p.name, func() {
		began := time.Now()
		r.run(ctx, steps)
		if ctx.Err() == nil {
			kl.opts.SyncDone(time.Since(began), !anyFailed(p.troubles.list()))
		}
	})
}

// planRun is one plan being carried out.
type planRun struct {
	kl    *Kubelet
	pod   *podState // only its name and troubles: the rest is the sync loop's
	label string
	work  *work

	mu      sync.Mutex
	created map[string]*action // that this run has carried out, by container name
	stuck   map[string]bool    // names of containers of which an action could not be done
}

// run carries out a plan, step by step, the actions of a step side by side. After an
// action that could not be done nothing more is done to the container of that name: what
// could not be replaced is not stopped. After one on the network container nothing more
// is done at all. It stops between two steps when something else is wanted.
func (r *planRun) run(ctx context.Context, steps [][]action) {
	for _, step := range steps {
		if r.stuck[api.NetworkContainerName] || ctx.Err() != nil || r.work.overtaken.Err() != nil {
			return
		}
		var wg sync.WaitGroup
		for _, a := range slices.DeleteFunc(slices.Clone(step), func(a action) bool { return r.stuck[a.name.Name] }) {
			wg.Go(func() { r.act(ctx, a) })
		}
		wg.Wait()
	}
}

// act carries out one action and keeps what came of it. A panic is an error of it.
func (r *planRun) act(ctx context.Context, a action) {
	err := recovered(func() error { return r.do(ctx, &a) })
	if errors.Is(err, errOvertaken) || err != nil && ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.stuck[a.name.Name] = true
		r.pod.troubles.set(a.name.Name, troubleOf(&a, err))
		return
	}
	level := glog.Level(0) // a person wants to know what was started and stopped
	if a.kind == createAction || a.kind == removeAction {
		level = 2
	}
	glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", r.label, a.kind.done(), a.name.Name, a.name.Attempt, a.reason)
	r.kl.events.remember(a.name.PodFullName, a.name.Name, a.kind.event(), a.what())
	r.work.acted = true
	r.pod.troubles.clear(a.name.Name)
	r.pod.troubles.clear("")
	if a.kind == createAction {
		r.created[a.name.Name] = &a
	}
}

// do makes the Docker calls. What the action does not know of a container that this
// run has created is filled in.
func (r *planRun) do(ctx context.Context, a *action) error {
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
		return r.create(ctx, a)
	case startAction:
		defer r.kl.slot()()
		defer r.kl.observer.forget(a.id) // a start that fails leaves its reason in the container
		return r.kl.docker.StartContainer(ctx, a.id)
	case hookAction:
		return r.postStart(ctx, a)
	case stopAction:
		err := r.kl.stop(ctx, a)
		if err == nil && a.cause != "" {
			r.kl.observer.noteKilled(a.id, trouble{container: a.name.Name, reason: a.cause, message: a.reason})
		}
		return err
	default:
		return r.kl.remove(ctx, a)
	}
}

// remove removes a container, unless it is gone, and its termination message.
func (kl *Kubelet) remove(ctx context.Context, a *action) error {
	if err := kl.docker.RemoveContainer(ctx, a.id); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	return kl.opts.Volumes.RemoveTerminationFile(a.name.UID, terminationFile(a.name))
}

// create makes a container, once its image is there, and notes its id in the action;
// its attempt may be later than planned. Docker's rule that names are unique is the
// lock: when the name is one of ours after all, because an earlier call did its work and
// its answer was lost, the next look finds it; when a stranger has it, that costs one
// attempt number.
func (r *planRun) create(ctx context.Context, a *action) (err error) {
	if a.pull {
		if err := r.kl.freshImage(ctx, r.work.want, a); err != nil {
			return err
		}
	}
	defer r.kl.slot()()
	for range 10 {
		spec, err := r.kl.containerSpec(ctx, r.work.want, *a)
		if err != nil {
			return err
		}
		a.id, err = r.kl.docker.CreateContainer(ctx, spec)
		switch {
		case errors.Is(err, dockertools.ErrNoSuchImage):
			if err := r.kl.missingImage(ctx, r.work.want, a, spec.Image, err); err != nil {
				return err
			}
		case errors.Is(err, dockertools.ErrNameTaken):
			list, listErr := r.kl.observer.list(ctx)
			if listErr != nil {
				return errors.Join(err, listErr)
			}
			if slices.ContainsFunc(list, func(o dockertools.Owned) bool { return o.Name == a.name.String() }) {
				return fmt.Errorf("%w by a container of this pod that was not listed before", err)
			}
			a.name.Attempt++
		default:
			return err
		}
	}
	return cmp.Or(err, errors.New("ten names in a row are taken"))
}

// slot waits for one of the places for creations and starts, and returns what
// gives it back.
func (kl *Kubelet) slot() (release func()) {
	kl.slots <- struct{}{}
	return func() { <-kl.slots }
}
