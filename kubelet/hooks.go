package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/health"
)

// The time limits of hooks. A preStop runs within stopGrace and leaves some of it
// for the stop signal.
const (
	postStartLimit = 30 * time.Second
	preStopLimit   = stopGrace - minTermGrace
	minTermGrace   = 2 * time.Second
)

// lifecycleLabel writes down the hooks of a container, ports as numbers, for
// whoever has to run them: that may be a later kubelet, without the manifest.
// Empty when there are none.
func lifecycleLabel(c *api.Container) string {
	if c.Lifecycle == nil {
		return ""
	}
	var resolved api.Lifecycle
	var err error
	if resolved.PostStart, err = health.ResolveHandler(c.Lifecycle.PostStart, c.Ports); err == nil {
		resolved.PreStop, err = health.ResolveHandler(c.Lifecycle.PreStop, c.Ports)
	}
	text, marshalErr := json.Marshal(resolved)
	if err != nil || marshalErr != nil {
		panic(fmt.Sprintf("lifecycle of container %q: %v, %v", c.Name, err, marshalErr)) // validation refuses such ports
	}
	return string(text)
}

// lifecycle reads the label. One that somebody else wrote may hold anything: what
// cannot be read is no hook.
func lifecycle(label string) (hooks api.Lifecycle) {
	if label != "" && json.Unmarshal([]byte(label), &hooks) != nil {
		return api.Lifecycle{}
	}
	return hooks
}

// runHook runs a hook of a container whose network is that of another one.
func (kl *Kubelet) runHook(ctx context.Context, handler *api.Handler, id, netID string, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	target := health.Target{Exec: kl.execIn(id)}
	if handler.HTTPGet != nil {
		// Asked of Docker each time: hooks are rare, and of a pod that is not wanted
		// nothing else is known.
		details, err := kl.docker.InspectContainer(ctx, netID)
		if err != nil {
			return err
		}
		target.PodIP = details.IP
	}
	return health.RunHandler(ctx, handler, target)
}

// execIn runs commands in a container.
func (kl *Kubelet) execIn(id string) func(context.Context, []string, io.Writer) (int, error) {
	return func(ctx context.Context, command []string, out io.Writer) (int, error) {
		return kl.docker.Exec(ctx, id, command, out)
	}
}

// errOvertaken is the end of an action that has become pointless: a newer wish has
// come, the kubelet ends, or the container has ended by itself.
var errOvertaken = errors.New("what came meanwhile goes first")

// postStart runs the hook of a container that has just been started, and then
// renames the container: so Docker remembers that it is done. A hook that fails
// stops its container. It may run twice, when the kubelet is killed in the middle; after
// a renaming that failed, such as for a full disk, only the renaming is tried again.
//
// A newer wish for the pod interrupts it (errOvertaken), and decides what becomes of
// the container.
func (r *planRun) postStart(ctx context.Context, a *action) error {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.work.overtaken, cancel)()

	var err error
	if hook := lifecycle(a.lifecycle).PostStart; hook != nil {
		err = r.kl.runHook(until, hook, a.id, a.netID, postStartLimit)
	}
	if err == nil {
		plain := a.name
		plain.AwaitsHook = false
		// A name that is taken costs the container its attempt, like a failed hook.
		if err = r.kl.docker.RenameContainer(ctx, a.id, plain.String()); !errors.Is(err, dockertools.ErrNameTaken) {
			return err
		}
	}
	details, gone := r.kl.docker.InspectContainer(ctx, a.id)
	if until.Err() != nil || gone == nil && details.State.Ended() {
		return errOvertaken
	}
	failed := trouble{reason: api.ReasonHookFailed, message: "its postStart hook failed: " + plainWords(err.Error())}
	a.reason = failed.message
	if err := r.kl.stop(ctx, a); err != nil {
		failed.message += fmt.Sprintf("; and then: %v", err)
		return failed
	}
	r.kl.observer.noteKilled(a.id, trouble{container: a.name.Name, reason: api.ReasonHookFailed, message: a.reason})
	return failed
}

// stop asks a container to end: by its preStop hook, by its stop signal, and in
// the end by SIGKILL, all of it within stopGrace. A hook that fails does not save
// its container, and one that is gone has ended.
func (kl *Kubelet) stop(ctx context.Context, a *action) error {
	began := time.Now()
	kl.events.add(a.name.PodFullName, a.name.Name, "killing", "%s", a.what())
	if hook := lifecycle(a.lifecycle).PreStop; hook != nil && !a.paused {
		if err := kl.runHook(ctx, hook, a.id, a.netID, preStopLimit); err != nil && ctx.Err() == nil {
			why := plainWords(err.Error())
			glog.Warningf("pod %s: container %q: its preStop hook failed: %s", a.name.PodFullName, a.name.Name, why)
			kl.events.add(a.name.PodFullName, a.name.Name, "preStop failed", "%s", why)
		}
	}
	err := kl.docker.StopContainer(ctx, a.id, max(stopGrace-time.Since(began), minTermGrace))
	if errors.Is(err, dockertools.ErrNoSuchContainer) {
		return nil
	}
	return err
}
