package server

import (
	"context"
	"io"

	"kubelet14/api"
)

// Kubelet is what the server sees of the kubelet. Its methods may be called by any
// number of goroutines.
type Kubelet interface {
	// Health is nil when the kubelet can look after its pods. It takes no time.
	Health() error
	// Pods are those that are wanted, by full name.
	Pods() []api.Pod
	// Statuses says of every pod, by full name, what has become of it.
	Statuses(ctx context.Context) ([]api.PodStatus, error)
	// Events gives those after a number, the oldest first, and a channel that is closed
	// when there is another.
	Events(after uint64) (newer []api.Event, more <-chan struct{})
	// Load says how much the kubelet has to do.
	Load() api.Load

	// ContainerLogs writes what a container has printed, line by line as it comes when
	// it is to follow: then it goes on, with the next attempt of the container when
	// there is one, until ctx is done, the pod is gone, or the container has run for
	// the last time.
	ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error
	// RunInContainer runs a command in a container, writes what it prints, and returns
	// its exit code. When ctx is done it ends the command.
	RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error)
	// ContainerStats measures a running container, by the name of the pod and of the
	// container.
	ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error)
}
