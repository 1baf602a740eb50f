package execute

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// setUpVolumes sets up the volumes that a container mounts, and returns its mounts.
func (e *Executor) setUpVolumes(ctx context.Context, pod *plan.Pod, a plan.Action) (mounts []dockertools.Mount, err error) {
	c := a.Container
	if c.Spec == nil { // the network container
		return nil, nil
	}
	defer e.Doing.Begin(a, api.ReasonCreating, "its volumes are being set up")()
	for _, mount := range c.Spec.VolumeMounts {
		i := slices.IndexFunc(pod.Complete.Volumes, func(v api.Volume) bool { return v.Name == mount.Name })
		spec := &pod.Complete.Volumes[i]
		v, err := e.Configs.CreateVolume(spec, pod)
		if err == nil {
			err = e.setUps.SetUp(ctx, v)
		}
		switch {
		case err != nil && spec.Source.HostDir != nil:
			return nil, plan.Problem{Reason: api.ReasonHostDirMissing, Message: fmt.Sprintf("cannot be created: volume %q: %v", mount.Name, err)}
		case err != nil:
			return nil, fmt.Errorf("set up volume %q: %w", mount.Name, err)
		}
		readOnly := mount.ReadOnly || spec.Source.HasFiles() || spec.Source.Claim != nil && spec.Source.Claim.ReadOnly
		mounts = append(mounts, dockertools.Mount{HostPath: filepath.Join(v.GetPath(), mount.SubPath), ContainerPath: mount.MountPath, ReadOnly: readOnly})
	}
	return mounts, nil
}
