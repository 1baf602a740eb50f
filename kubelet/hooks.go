package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/health"
	"kubelet14/kubelet/plan"
)

const (
	postStartLimit = 30 * time.Second
	stopGrace      = 10 * time.Second // for the preStop hook, the stop signal and the end of the container, unless its pod says otherwise
	minTermGrace   = 2 * time.Second  // of these, for what follows the preStop hook, or half of a grace below 4 s
)

// lifecycleLabel returns the hooks of a container as a label, with port numbers for port
// names; empty if there are none. From the label a kubelet without the manifest can run a
// preStop hook.
func lifecycleLabel(c *api.Container) string {
	if c.Lifecycle == nil {
		return ""
	}
	label, _ := json.Marshal(api.Lifecycle{ // strings and numbers always marshal
		PostStart: health.ResolveHandler(c.Lifecycle.PostStart, c.Ports), PreStop: health.ResolveHandler(c.Lifecycle.PreStop, c.Ports),
	})
	return string(label)
}

// lifecycle returns the hooks in a label; none if it is empty, or not of a kubelet.
func lifecycle(label string) (hooks api.Lifecycle) {
	_ = json.Unmarshal([]byte(label), &hooks)
	return hooks
}

// runHook runs a hook of the container of an action.
func (kl *Kubelet) runHook(ctx context.Context, hook *api.Handler, a plan.Action, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	target := health.Target{ID: a.ID, Exec: kl.docker.Exec}
	if hook.HTTPGet != nil {
		details, err := kl.docker.InspectContainer(ctx, a.NetworkID)
		if err != nil {
			return err
		}
		target.PodIP = details.IP
	}
	return health.RunHandler(ctx, hook, target)
}

// postStart runs the postStart hook of a container that was just started. If it fails, or is
// interrupted because the desired state has changed, the container is stopped: it never runs
// on without its hook.
func (w *work) postStart(ctx context.Context, a plan.Action) error {
	hook := lifecycle(a.Lifecycle).PostStart
	if hook == nil {
		return nil
	}
	hookCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.superseded, cancel)()
	defer w.note(a, api.ReasonPostStart, "its hook has until %s", time.Now().Add(postStartLimit).Format(time.TimeOnly))()
	err := w.kl.runHook(hookCtx, hook, a, postStartLimit)
	if err == nil {
		message := fmt.Sprintf("attempt %d: its hook has succeeded", a.Name.Attempt)
		glog.V(2).Infof("pod %s: container %q: postStart: %s", a.Name.PodFullName, a.Name.Name, message)
		w.kl.events.add(a.Name.PodFullName, a.Name.Name, "postStart", message)
		return nil
	}
	if details, err := w.kl.docker.InspectContainer(ctx, a.ID); err == nil && details.State.Ended() {
		return nil // it ended by itself, and that is the reason to report
	}
	a.Reason = "its postStart hook failed: " + plan.TrimLayers(err.Error())
	if w.superseded.Err() != nil {
		a.Reason = "its postStart hook was interrupted: its pod has changed"
	}
	problem := plan.Problem{Container: a.Name.Name, Reason: api.ReasonHookFailed, Message: a.Reason}
	if err := w.stopContainer(ctx, a); err != nil {
		problem.Message += fmt.Sprintf("; and then: %v", err)
		return problem
	}
	w.kl.observer.NoteKilled(a.ID, problem)
	return problem
}

// stopContainer stops a container by its preStop hook, then its stop signal, then SIGKILL,
// all within its grace. A hook that fails changes nothing about that, and without any grace
// no hook runs.
func (w *work) stopContainer(ctx context.Context, a plan.Action) error {
	began, grace := time.Now(), stopGrace
	if seconds, err := strconv.ParseUint(a.Grace, 10, 31); err == nil {
		grace = time.Duration(seconds) * time.Second
	}
	termGrace := min(minTermGrace, grace/2)
	defer w.note(a, api.ReasonStopping, "attempt %d has until %s to end", a.Name.Attempt, began.Add(grace).Format(time.TimeOnly))()
	glog.V(2).Infof("pod %s: container %q: killing: %s", a.Name.PodFullName, a.Name.Name, describe(a))
	w.kl.events.add(a.Name.PodFullName, a.Name.Name, "killing", describe(a))
	if hook := lifecycle(a.Lifecycle).PreStop; hook != nil && !a.Paused && grace > 0 {
		if err := w.kl.runHook(ctx, hook, a, grace-termGrace); err != nil && ctx.Err() == nil {
			text := plan.TrimLayers(err.Error())
			glog.Warningf("pod %s: container %q: its preStop hook failed: %s", a.Name.PodFullName, a.Name.Name, text)
			w.kl.events.add(a.Name.PodFullName, a.Name.Name, "preStop failed", text)
		}
	}
	w.kl.observer.NoteStop(a.ID)
	err := w.kl.docker.StopContainer(ctx, a.ID, max(grace-time.Since(began), termGrace))
	if errors.Is(err, dockertools.ErrNoSuchContainer) {
		return nil
	}
	return err
}
