package health

import (
	"context"
	"errors"
	"io"

	"kubelet14/api"
)

// Status is what a probe says about a container.
type Status string

const (
	Unknown   Status = "unknown"   // it could not be asked, which says nothing about it
	Healthy   Status = "healthy"   // it has answered well
	Unhealthy Status = "unhealthy" // it has answered badly, or not in time
)

// Result of a probe.
type Result struct {
	Status Status
	Output string // what was seen, for people: one line of at most 1 KiB
}

// Target is the container a probe or a hook is for.
type Target struct {
	PodIP string     // empty while the pod has none
	Ports []api.Port // of the container, for their names
	// Exec runs a command in the container and writes what it prints to out, until
	// it returns. That is when ctx is done at the latest. An error names the command,
	// and wraps dockertools.ErrExecNotStarted when the command did not run.
	Exec func(ctx context.Context, command []string, out io.Writer) (exitCode int, err error)
}

// Probe runs a liveness probe once. A deadline of ctx that passes is Unhealthy, in
// the words of its cause; a ctx that is cancelled is Unknown.
func Probe(ctx context.Context, p *api.LivenessProbe, t Target) Result {
	seen, err := t.ask(ctx, p)
	if err == nil {
		return Result{Healthy, readable(seen)}
	}
	if _, failed := errors.AsType[failure](err); failed {
		return Result{Unhealthy, readable(err.Error())}
	}
	return Result{Unknown, readable(err.Error())}
}

// RunHandler runs a hook once. The error says what it was that failed, and wraps
// the cause of ctx when that was cancelled.
func RunHandler(ctx context.Context, h *api.Handler, t Target) error {
	resolved, err := ResolveHandler(h, t.Ports)
	if err != nil {
		return err
	}
	_, err = t.ask(ctx, &api.LivenessProbe{HTTPGet: resolved.HTTPGet, Exec: resolved.Exec})
	return err
}

// ask does what p names. The error is a failure when the container is to blame.
func (t Target) ask(ctx context.Context, p *api.LivenessProbe) (seen string, err error) {
	switch {
	case p.Exec != nil && len(p.Exec.Command) > 0:
		return t.run(ctx, p.Exec)
	case p.HTTPGet != nil:
		return t.get(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return t.connect(ctx, p.TCPSocket)
	}
	return "", errors.New("there is nothing to do: name an action")
}
