package kubelet

import (
	"context"
	"errors"
	"io"

	"kubelet14/kubelet/dockertools"
)

// RunInContainer runs a command, without a shell, in the container of a pod that is
// wanted or being removed, writes to out what it prints, and returns its exit code.
// When ctx is done, or out takes no more, it kills the command. The error is
// api.ErrNotFound when the container does not run. It may be called at any time by any
// goroutine.
func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error) {
	found, err := kl.findContainer(ctx, podFullName, container)
	if err != nil {
		return 0, err
	}
	c, err := found.running(podFullName, container)
	if err != nil {
		return 0, err
	}
	exitCode, err = kl.docker.Exec(ctx, c.ID, command, out)
	return exitCode, endedMeanwhile(err, podFullName, container)
}

// endedMeanwhile says of what was asked of a running container that it was none any
// more.
func endedMeanwhile(err error, podFullName, container string) error {
	if errors.Is(err, dockertools.ErrNoSuchContainer) || errors.Is(err, dockertools.ErrNotRunning) {
		return notFound("container %q of pod %s has just ended", container, podFullName)
	}
	return err
}
