// Package execute carries out the plan of one pod on Docker. It decides nothing but what a plan
// could not know: whether an image or a network is missing, or a name is taken.
//
//	plan ─▶ Executor.Run: one step after the other, the actions of a step at the same time
//	          ├─ create: image, volumes, spec        ├─ stop: preStop hook, stop signal, SIGKILL
//	          ├─ start: pod network, postStart hook  └─ remove
//	          ▼
//	        problems, by container
package execute

import (
	"context"
	"errors"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/configmaps"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/observe"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
	"kubelet14/volume"
)

// Executor carries out plans, those of different pods at the same time. Every exported field must
// be set before the first Run.
type Executor struct {
	Docker       dockertools.Interface
	Identity     dockertools.Identity
	Volumes      *volume.RootDir
	Configs      *configmaps.Store // what ConfigMaps and Secrets give a container
	Images       *images.Puller
	NetworkImage string               // of network containers
	PodNetwork   string               // see BridgeNetwork
	LogLimit     dockertools.LogLimit // of each container
	Observer     *observe.Observer    // remembers what the executor did to a container
	Doing        *status.Doing        // shows what takes long
	Watcher      watch.Watcher

	starts      slots
	setUps      volume.SetUps
	making      sync.Mutex // held by the one worker that makes the pod network, or imports a built-in image
	networkSeen bool       // guarded by making; the pod network has existed; another kubelet's -cleanup may remove it at any time
}

// work is one plan that is being carried out.
type work struct {
	*Executor
	pod     *plan.Pod // as desired when the plan was made; nil: it is being removed
	changed context.Context

	mu       sync.Mutex
	created  map[string]plan.Action  // guarded by mu; by container name
	problems map[string]plan.Problem // guarded by mu; by container name
}

// Run carries out the steps of a plan one after the other, the actions of a step concurrently. It stops at the end of a step
// if the desired state has changed: changed is done then. It returns the problem of each container that has one.
//
// After a failed action nothing more is done to its container: what cannot be replaced is not stopped. After a failure of the
// network container, or of what must precede an init container, no further step begins. Only the removal that ends an eviction
// follows a failure, and kills what could not be stopped.
func (e *Executor) Run(ctx, changed context.Context, pod *plan.Pod, todo plan.Plan) map[string]plan.Problem {
	w := &work{Executor: e, pod: pod, changed: changed, created: map[string]plan.Action{}, problems: map[string]plan.Problem{}}
	required := map[string]bool{api.NetworkContainerName: true}
	for _, a := range todo.Actions() {
		if todo.Init != "" && (a.Name.Name == todo.Init || a.Kind == plan.Stop) {
			required[a.Name.Name] = true
		}
	}
	for _, step := range todo.Steps {
		if ctx.Err() != nil || changed.Err() != nil {
			break
		}
		failed, stuck := map[string]bool{}, false
		for name := range w.problems {
			failed[name] = true
			stuck = stuck || required[name]
		}
		var actions sync.WaitGroup
		for _, a := range step {
			if a.EndsEviction() || !stuck && !failed[a.Name.Name] {
				actions.Go(func() { w.act(ctx, a) })
			}
		}
		actions.Wait()
	}
	return w.problems
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
	w.Watcher.Acting(a)
	began := time.Now()
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
	if err == nil {
		w.Watcher.Acted(a, time.Since(began), nil)
		return
	}
	problem := problemOf(a, err)
	w.Watcher.Acted(a, time.Since(began), problem)
	if ctx.Err() == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.problems[a.Name.Name] = problem
	}
}

// remove removes a container, unless it is gone, and its termination message.
func (w *work) remove(ctx context.Context, a plan.Action) error {
	if err := w.Docker.RemoveContainer(ctx, a.ID); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	w.Watcher.Did(a)
	return w.Volumes.RemoveTerminationFile(a.Name.UID, a.Name.TerminationFile())
}
