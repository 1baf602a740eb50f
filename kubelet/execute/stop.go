package execute

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

const (
	stopGrace    = 10 * time.Second // for the preStop hook, the stop signal and the end of the container, unless its pod says otherwise
	minTermGrace = 2 * time.Second  // of these, for what follows the preStop hook, or half of a grace below 4 s
)

// stop runs the preStop hook, sends the stop signal and then SIGKILL, all within the grace, and records why unless the container
// is only replaced. A hook that fails changes nothing. Without any grace no hook runs.
func (w *work) stop(ctx context.Context, a plan.Action) error {
	began, grace := time.Now(), stopGrace
	if seconds, err := strconv.ParseUint(a.Grace, 10, 31); err == nil {
		grace = time.Duration(seconds) * time.Second
	}
	termGrace := min(minTermGrace, grace/2)
	defer w.Doing.Begin(a, api.ReasonStopping, "attempt %d has until %s to end", a.Name.Attempt, began.Add(grace).Format(time.TimeOnly))()
	w.Watcher.Told(a, "killing", fmt.Sprintf("attempt %d: %s", a.Name.Attempt, a.Reason))
	if hook := dockertools.ParseLifecycle(a.Lifecycle).PreStop; hook != nil && !a.Paused && grace > 0 {
		if err := w.runHook(ctx, hook, a, grace-termGrace); err != nil && ctx.Err() == nil {
			w.Watcher.Warned(a, "preStop failed", dockertools.TrimLayers(err.Error()))
		}
	}
	w.Observer.RecordStop(a.ID)
	err := w.Docker.StopContainer(ctx, a.ID, max(grace-time.Since(began), termGrace))
	if err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
		return err
	}
	if a.Killed != "" {
		w.Observer.RecordKilled(a.ID, plan.Problem{Container: a.Name.Name, Reason: a.Killed, Message: a.Reason})
	}
	w.Watcher.Did(a)
	return nil
}
