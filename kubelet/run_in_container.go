package kubelet

import (
	"context"
	"errors"
	"io"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// RunInContainer runs a command, without a shell, in a running container of a pod that is
// desired or being removed. It writes the command's output to out and returns its exit code.
func (kl *Kubelet) RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error) {
	_, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return 0, err
	}
	exitCode, err = kl.docker.Exec(ctx, c.ID, command, out)
	return exitCode, justEnded(err, podFullName, container)
}

// ContainerStats measures a running container of a pod that is desired or being removed.
func (kl *Kubelet) ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	found, c, err := kl.findRunning(podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	measured, err := kl.docker.Stats(ctx, c.ID)
	if err != nil {
		return api.ContainerStats{}, justEnded(err, podFullName, container)
	}
	stats := api.ContainerStats{
		Time: measured.Time, CPU: measured.CPU, Memory: measured.Memory, Network: measured.Network,
		Created: c.Created, Image: c.Image, ID: c.ID,
	}
	if found.want != nil && found.want.Spec != nil {
		stats.MemoryLimit, stats.CPUShares = found.want.Spec.Memory, cpuShares(found.want.Spec.CPU)
	}
	return stats, nil
}

// justEnded returns a better error if the container has ended since the last sync.
func justEnded(err error, podFullName, container string) error {
	if errors.Is(err, dockertools.ErrNoSuchContainer) || errors.Is(err, dockertools.ErrNotRunning) {
		return notFound("container %q of pod %s has just ended", container, podFullName)
	}
	return err
}
