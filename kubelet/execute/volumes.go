package execute

import (
	"context"
	"fmt"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// setUpVolumes sets up the volumes that a container mounts, and returns its mounts.
func (e *Executor) setUpVolumes(ctx context.Context, pod *plan.Pod, a plan.Action) (mounts []dockertools.Mount, err error) {
	c := a.Container
	if c.Spec == nil { // the network container
		return nil, nil
	}
	defer e.Doing.Begin(a, api.ReasonCreating, "its volumes are being set up")()
	for _, mount := range c.Spec.VolumeMounts {
		spec := pod.Complete.Mounted(&mount)
		v, err := e.Configs.CreateVolume(spec, pod)
		if mount.SubPath != "" {
			v = volume.Part(v, mount.SubPath)
		}
		if err == nil {
			err = e.setUps.SetUp(ctx, v)
		}
		switch {
		case err != nil && spec.Source.HostDir != nil:
			return nil, plan.Problem{Reason: api.ReasonHostDirMissing, Message: fmt.Sprintf("cannot be created: volume %q: %v", mount.Name, err)}
		case err != nil:
			return nil, fmt.Errorf("set up volume %q: %w", mount.Name, err)
		}
		mounts = append(mounts, dockertools.Mount{HostPath: v.GetPath(), ContainerPath: mount.MountPath, ReadOnly: mount.IsReadOnly(spec)})
	}
	return mounts, nil
}
