package logs

import (
	"context"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Run runs a command, without a shell, in a running container of a pod that is
// desired or being removed. It returns the command's exit code.
func (r *Reader) Run(ctx context.Context, podFullName, container string, command []string, streams api.Streams) (exitCode int, err error) {
	_, c, err := r.findRunning(podFullName, container)
	if err != nil {
		return 0, err
	}
	exitCode, err = r.Docker.ExecWith(ctx, c.ID, command, streams)
	return exitCode, justEnded(err, podFullName, container)
}

// Stats measures a running container of a pod that is desired or being removed.
func (r *Reader) Stats(ctx context.Context, podFullName, container string) (api.ContainerStats, error) {
	found, c, err := r.findRunning(podFullName, container)
	if err != nil {
		return api.ContainerStats{}, err
	}
	stats, err := r.Docker.Stats(ctx, c.ID)
	if err != nil {
		return api.ContainerStats{}, justEnded(err, podFullName, container)
	}
	stats.Created, stats.Image, stats.ID, stats.Name = c.Created, c.Image, c.ID, c.Name
	if found.want != nil && found.want.Spec != nil {
		stats.MemoryLimit, stats.CPUShares = found.want.Spec.Memory, dockertools.CPUShares(found.want.Spec.CPU)
	}
	return stats, nil
}
