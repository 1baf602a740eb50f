package health

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Unhealthy is the fault of a container: one line of at most 1,000 characters that is safe for logs
// and terminals, though the container may have written it.
type Unhealthy string

func (u Unhealthy) Error() string { return string(u) }

// unhealthy makes text one line and returns it as an error.
func unhealthy(text string) error {
	text = api.Printable(api.Shorten(strings.Join(strings.Fields(text), " "), maxShown))
	return Unhealthy(strings.TrimSuffix(text, ":")) // a colon before an empty output
}

// localErrnos are errors of this host. A kubelet that has no more free file descriptors
// must not kill every container that it probes.
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
	case errors.Is(err, io.ErrUnexpectedEOF):
		return unhealthy("no complete answer")
	}
	return unhealthy(err.Error())
}

const (
	maxOutput = 4 << 10 // bytes that are kept of what a container prints or answers: more than maxShown whole characters
	maxShown  = 1000    // characters of an Unhealthy
)

// limitedBuffer keeps the first maxOutput bytes. It accepts the rest, so that a command
// that prints without end is not interrupted.
type limitedBuffer []byte

func (b *limitedBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxOutput-len(*b))]...)
	return len(p), nil
}
