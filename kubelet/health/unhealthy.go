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

// Unhealthy is an error that is the container's fault: one line of at most 1,000 characters,
// safe for logs and terminals although the container may have written it.
type Unhealthy string

func (u Unhealthy) Error() string { return string(u) }

// unhealthy returns text as an error of one line.
func unhealthy(text string) error {
	text = api.Printable(api.Shorten(strings.Join(strings.Fields(text), " "), maxShown))
	return Unhealthy(strings.TrimSuffix(text, ":")) // left by an empty output
}

// localErrnos are errors of this host. A kubelet that runs out of file descriptors must not
// kill every container that it probes.
var localErrnos = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EADDRNOTAVAIL, syscall.ENETUNREACH,
}

// classify turns an error of an action into Unhealthy, unless something other than the container caused it.
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
	maxOutput = 4 << 10 // bytes to keep of a container's output or answer; at least maxShown characters
	maxShown  = 1000    // characters in an Unhealthy
)

// limitedBuffer keeps the first maxOutput bytes and discards the rest, so that a command
// that prints for ever is not interrupted.
type limitedBuffer []byte

func (b *limitedBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxOutput-len(*b))]...)
	return len(p), nil
}
