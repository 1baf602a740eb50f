package health

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Target is the container of a probe or a hook.
type Target struct {
	PodIP string     // empty while the pod has none
	Ports []api.Port // of the container, for their names
	// Exec runs a command in the container, as dockertools.Interface does.
	Exec func(ctx context.Context, command []string, out io.Writer) (exitCode int, err error)
}

// Probe runs a liveness probe once. It returns nil for a healthy container, an error that
// wraps Unhealthy for an unhealthy one, and another error if the probe could not be made.
// After the deadline of ctx the container is unhealthy, for the cause of ctx; if ctx is
// canceled, its cause is the error.
func Probe(ctx context.Context, p *api.LivenessProbe, t Target) error {
	switch {
	case p.Exec != nil && len(p.Exec.Command) > 0:
		return t.exec(ctx, p.Exec.Command)
	case p.HTTPGet != nil:
		return t.httpGet(ctx, p.HTTPGet)
	case p.TCPSocket != nil:
		return t.tcpSocket(ctx, p.TCPSocket.Port)
	}
	return errors.New("there is nothing to do: name an action")
}

// RunHandler runs a hook once; its errors are those of Probe.
func RunHandler(ctx context.Context, h *api.Handler, t Target) error {
	return Probe(ctx, &api.LivenessProbe{HTTPGet: h.HTTPGet, Exec: h.Exec}, t)
}

// Unhealthy is the fault of a container: one line of at most 1 KiB that is safe for logs
// and terminals, though the container may have written it.
type Unhealthy string

func (u Unhealthy) Error() string { return string(u) }

// unhealthy makes one line of text and returns it as an error.
func unhealthy(text string) error {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r // U+FFFD for what is not UTF-8
		}
		return '?'
	}, strings.Join(strings.Fields(text), " "))
	if len(text) > maxOutput {
		text = strings.ToValidUTF8(text[:maxOutput-len("…")], "") + "…"
	}
	return Unhealthy(strings.TrimSuffix(text, ":")) // a colon before an empty output
}

// localErrnos are errors that this host causes. A kubelet that has no more free file
// descriptors must not kill every container that it probes.
var localErrnos = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EADDRNOTAVAIL, syscall.ENETUNREACH,
}

// classify returns an error of an action as Unhealthy, unless something else than the
// container caused it.
func classify(ctx context.Context, err error) error {
	errno, _ := errors.AsType[syscall.Errno](err)
	_, lookup := errors.AsType[*net.DNSError](err)
	switch {
	case lookup, slices.Contains(localErrnos, errno), errors.Is(err, dockertools.ErrExecNotStarted):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return unhealthy(context.Cause(ctx).Error())
	case errno != 0:
		return unhealthy(errno.Error())
	}
	return unhealthy(err.Error())
}
