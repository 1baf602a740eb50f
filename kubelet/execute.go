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
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
)

// work is one plan being carried out by the pod's worker.
type work struct {
	kl         *Kubelet
	pod        *plan.Pod       // as desired when the work began; nil: it is being removed
	init       string          // see plan.Plan
	superseded context.Context // done when the desired state has changed
	supersede  func()

	mu       sync.Mutex
	created  map[string]plan.Action  // guarded by mu; by container name
	problems map[string]plan.Problem // guarded by mu, until the work has ended; of actions that failed, by container name
}

// startWork lets the pod's worker carry out steps of its plan.
func (kl *Kubelet) startWork(ctx context.Context, p *podRecord, steps [][]plan.Action) {
	w := &work{kl: kl, pod: p.pod, init: p.plan.Init, created: map[string]plan.Action{}, problems: map[string]plan.Problem{}}
	w.superseded, w.supersede = context.WithCancel(context.Background())
	p.work, p.stateLogged = w, ""
	kl.opts.Trace.Add(trace.Event{Kind: "work", Pod: p.name, N: len(steps)})
	kl.workers.Run(p.name, func() {
		defer w.supersede()
		began := time.Now()
		w.syncPod(ctx, steps)
		kl.opts.Trace.Add(trace.Event{Kind: "ended", Pod: p.name})
		if ctx.Err() == nil {
			kl.opts.SyncDone(time.Since(began), !slices.ContainsFunc(slices.Collect(maps.Values(w.problems)), isFailure))
		}
	})
}

// syncPod carries out a plan: its steps one after the other, the actions of a step
// concurrently. It stops at the end of a step if the desired state has changed. After an
// action has failed nothing more is done to its container: what cannot be replaced is not
// stopped. After a failure of the network container nothing more is done at all, and so it
// is with what must happen before an init container starts. Only the removal that ends an
// eviction follows a failure too, and kills what could not be stopped.
func (w *work) syncPod(ctx context.Context, steps [][]plan.Action) {
	hasFailed := func(container string) bool { return w.problems[container].Message != "" }
	required := []string{api.NetworkContainerName}
	for _, a := range slices.Concat(steps...) {
		if a.Name.Name == w.init || a.Kind == plan.Stop && w.init != "" {
			required = append(required, a.Name.Name)
		}
	}
	ends := func(a plan.Action) bool { return a.Kind == plan.Remove && a.Killed == api.ReasonEvicted }
	for _, step := range steps {
		if slices.ContainsFunc(required, hasFailed) && !slices.ContainsFunc(step, ends) || ctx.Err() != nil || w.superseded.Err() != nil {
			return
		}
		var wg sync.WaitGroup
		for _, a := range slices.DeleteFunc(slices.Clone(step), func(a plan.Action) bool { return hasFailed(a.Name.Name) && !ends(a) }) {
			wg.Go(func() { w.act(ctx, a) })
		}
		wg.Wait()
	}
}

// act carries out an action, and records a failure. A panic is a failure.
func (w *work) act(ctx context.Context, a plan.Action) {
	w.mu.Lock()
	// What the plan could not know of containers that this work has created is filled in.
	if a.ID == "" {
		a.ID = w.created[a.Name.Name].ID
		a.Name.Attempt = max(a.Name.Attempt, w.created[a.Name.Name].Name.Attempt)
	}
	if a.NetworkID == "" {
		a.NetworkID = w.created[api.NetworkContainerName].ID
	}
	w.mu.Unlock()
	end := w.kl.traceAct(a)
	err := panics.Catch("pod "+a.Name.PodFullName, func() error {
		switch a.Kind {
		case plan.Create:
			return w.create(ctx, a)
		case plan.Start:
			return w.start(ctx, a)
		case plan.Stop:
			return w.stop(ctx, a)
		}
		return w.remove(ctx, a)
	})
	end(err)
	if err != nil && ctx.Err() == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.problems[a.Name.Name] = problemOf(a, err)
	}
}

// done logs what was done, and records an event for it.
func (w *work) done(level glog.Level, verb string, a plan.Action) {
	glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", a.Name.PodFullName, verb, a.Name.Name, a.Name.Attempt, a.Reason)
	w.kl.events.add(a.Name.PodFullName, a.Name.Name, verb, describe(a))
}

// describe describes an action for an event.
func describe(a plan.Action) string { return fmt.Sprintf("attempt %d: %s", a.Name.Attempt, a.Reason) }

// create creates a container, once its image is there. Docker's rule that names are unique
// is the lock: if the container is there after all, because an earlier call succeeded and
// its answer was lost, the next sync finds it. If another program has the name, the attempt
// number is skipped.
func (w *work) create(ctx context.Context, a plan.Action) error {
	if !a.PulledSince.IsZero() {
		if err := w.pullImage(ctx, a); err != nil {
			return err
		}
	}
	if a.Container.NeedsIP {
		network, err := w.kl.docker.InspectContainer(ctx, a.NetworkID)
		if err != nil {
			return err
		}
		a.PodIP = network.IP
	}
	end := w.note(a, api.ReasonCreating, "its volumes are being set up")
	mounts, err := w.kl.setUpVolumes(ctx, w.pod, a.Container)
	end()
	if err != nil {
		return err
	}
	defer w.startSlot(ctx, a)()
	for range 10 {
		at := time.Now()
		spec, err := w.kl.containerSpec(w.pod, a, mounts)
		if err != nil {
			return err
		}
		a.ID, err = w.kl.docker.CreateContainer(ctx, spec)
		switch {
		case err == nil:
			w.mu.Lock()
			w.created[a.Name.Name] = a
			w.mu.Unlock()
			w.done(2, "created", a)
			return nil
		case errors.Is(err, dockertools.ErrNoSuchImage):
			if err := w.getImage(ctx, a, at, err); err != nil {
				return err
			}
		case errors.Is(err, dockertools.ErrNameTaken):
			if err := w.nameTaken(ctx, a, err); err != nil {
				return err
			}
			a.Name.Attempt++
		default:
			return err
		}
	}
	return errors.New("there is no free name, or no image, after 10 tries")
}

// start starts a container and runs its postStart hook. It does nothing if another attempt runs
// again, of which the plan did not know: the next plan decides between them.
func (w *work) start(ctx context.Context, a plan.Action) error {
	for _, other := range a.Others {
		if details, err := w.kl.docker.InspectContainer(ctx, other); err == nil && details.State.Live() {
			glog.Infof("pod %s: container %q: attempt %d does not start: an older one runs again", a.Name.PodFullName, a.Name.Name, a.Name.Attempt)
			w.kl.observer.Changed(other, false)
			return nil
		}
	}
	err := w.startContainer(ctx, a)
	if err != nil {
		w.kl.observer.Changed(a.ID, false) // a failed start leaves its error in the container, and no event
		if isMountMissing(err) {
			err = errors.Join(err, w.kl.docker.RemoveContainer(ctx, a.ID)) // the next one gets its volumes anew
		}
		return err
	}
	w.done(0, "started", a)
	return w.postStart(ctx, a)
}

// stop stops a container, and notes why unless it is only replaced.
func (w *work) stop(ctx context.Context, a plan.Action) error {
	if err := w.stopContainer(ctx, a); err != nil {
		return err
	}
	if a.Killed != "" {
		w.kl.observer.NoteKilled(a.ID, plan.Problem{Container: a.Name.Name, Reason: a.Killed, Message: a.Reason})
	}
	w.done(0, "stopped", a)
	return nil
}

// remove removes a container, unless it is gone, and its termination message.
func (w *work) remove(ctx context.Context, a plan.Action) error {
	if err := w.kl.docker.RemoveContainer(ctx, a.ID); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	w.done(2, "removed", a)
	return w.kl.opts.Volumes.RemoveTerminationFile(a.Name.UID, a.Name.TerminationFile())
}

// slotLimit is how long a creation or start counts as work: one that takes longer waits for
// something, and must not hold up the others.
const slotLimit = 5 * time.Second

// startSlot waits until few enough creations and starts are in progress, or ctx is done. A
// start mostly waits, so there may be more of them than cores; many more only slow down the host.
func (w *work) startSlot(ctx context.Context, a plan.Action) (release func()) {
	defer w.note(a, api.ReasonCreating, "other containers are being started before it")()
	select {
	case w.kl.startSlots <- struct{}{}:
		release = sync.OnceFunc(func() { <-w.kl.startSlots })
		time.AfterFunc(slotLimit, release)
		return release
	case <-ctx.Done():
		return func() {}
	}
}
