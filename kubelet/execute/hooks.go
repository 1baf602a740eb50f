package execute

import (
	"context"
	"fmt"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/health"
	"kubelet14/kubelet/plan"
)

const postStartLimit = 30 * time.Second

// runHook runs a hook in the container of an action.
func (e *Executor) runHook(ctx context.Context, hook *api.Handler, a plan.Action, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	target := health.Target{ID: a.ID, Exec: e.Docker.Exec}
	if hook.HTTPGet != nil {
		details, err := e.Docker.InspectContainer(ctx, a.NetworkID)
		if err != nil {
			return err
		}
		target.PodIP = details.IP
	}
	return health.RunHandler(ctx, hook, target)
}

// postStart runs the postStart hook of a container that has just started. If the hook fails, or is
// interrupted by a change of the desired state, the container is stopped: it never runs without its hook.
func (w *work) postStart(ctx context.Context, a plan.Action) error {
	hook := dockertools.ParseLifecycle(a.Lifecycle).PostStart
	if hook == nil {
		return nil
	}
	hookCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.changed, cancel)()
	defer w.Doing.Begin(a, api.ReasonPostStart, "its hook has until %s", time.Now().Add(postStartLimit).Format(time.TimeOnly))()
	err := w.runHook(hookCtx, hook, a, postStartLimit)
	if err == nil {
		w.Watcher.Told(a, "postStart", fmt.Sprintf("attempt %d: its hook has succeeded", a.Name.Attempt))
	}
	if err == nil || ctx.Err() != nil { // the kubelet ends
		return err
	}
	if details, err := w.Docker.InspectContainer(ctx, a.ID); err == nil && details.State.Ended() {
		return nil // it ended by itself, and that is the reason to report
	}
	a.Kind, a.Killed, a.Reason = plan.Stop, api.ReasonHookFailed, "its postStart hook failed: "+dockertools.TrimLayers(err.Error())
	if w.changed.Err() != nil {
		a.Reason = "its postStart hook was interrupted: its pod has changed"
	}
	problem := plan.Problem{Container: a.Name.Name, Reason: a.Killed, Message: a.Reason}
	if err := w.stop(ctx, a); err != nil {
		problem.Message += fmt.Sprintf("; and then: %v", err)
	}
	return problem
}
