package execute

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// volumeLimit is how long it may take to set up a volume.
const volumeLimit = 10 * time.Second

// setUpVolumes sets up the volumes that a container mounts, and returns its mounts.
func (e *Executor) setUpVolumes(ctx context.Context, pod *plan.Pod, a plan.Action) (mounts []dockertools.Mount, err error) {
	c := a.Container
	if c.Spec == nil { // the network container
		return nil, nil
	}
	defer e.Doing.Begin(a, api.ReasonCreating, "its volumes are being set up")()
	for _, mount := range c.Spec.VolumeMounts {
		i := slices.IndexFunc(pod.Complete.Volumes, func(v api.Volume) bool { return v.Name == mount.Name })
		v, err := volume.CreateVolume(&pod.Complete.Volumes[i], pod.UID, e.Volumes)
		if err == nil {
			err = e.inTime(ctx, fmt.Sprint(v), v.SetUp)
		}
		switch {
		case err != nil && pod.Complete.Volumes[i].Source.HostDir != nil:
			return nil, plan.Problem{Reason: api.ReasonHostDirMissing, Message: fmt.Sprintf("cannot be created: volume %q: %v", mount.Name, err)}
		case err != nil:
			return nil, fmt.Errorf("set up volume %q: %w", mount.Name, err)
		}
		mounts = append(mounts, dockertools.Mount{HostPath: v.GetPath(), ContainerPath: mount.MountPath, ReadOnly: mount.ReadOnly})
	}
	return mounts, nil
}

// inTime calls f and waits for volumeLimit. Nothing ends a system call to a dead file server:
// f goes on alone then, and the next call with its key waits for the same answer.
func (e *Executor) inTime(ctx context.Context, key string, f func() error) error {
	answer := e.setUps.DoChan(key, func() (any, error) { return nil, panics.Catch(key, f) })
	ctx, cancel := context.WithTimeoutCause(ctx, volumeLimit, fmt.Errorf("no answer from its file system within %v", volumeLimit))
	defer cancel()
	select {
	case a := <-answer:
		return a.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
