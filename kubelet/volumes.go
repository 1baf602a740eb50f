package kubelet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// volumeLimit is how long it may take to set up a volume.
const volumeLimit = 10 * time.Second

// setUpVolumes sets up the volumes that a container mounts, and returns its mounts.
func (kl *Kubelet) setUpVolumes(ctx context.Context, pod *plan.Pod, c *plan.Container) (mounts []dockertools.Mount, err error) {
	if c.Spec == nil { // the network container
		return nil, nil
	}
	for _, mount := range c.Spec.VolumeMounts {
		i := slices.IndexFunc(pod.Complete.Volumes, func(v api.Volume) bool { return v.Name == mount.Name })
		v, err := volume.CreateVolume(&pod.Complete.Volumes[i], pod.UID, kl.opts.Volumes)
		if err == nil {
			err = kl.inTime(ctx, fmt.Sprint(v), v.SetUp)
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
func (kl *Kubelet) inTime(ctx context.Context, key string, f func() error) error {
	answer := kl.setUps.DoChan(key, func() (any, error) { return nil, panics.Catch(key, f) })
	ctx, cancel := context.WithTimeoutCause(ctx, volumeLimit, fmt.Errorf("no answer from its file system within %v", volumeLimit))
	defer cancel()
	select {
	case a := <-answer:
		return a.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// trashVolumes moves to the trash the volumes of every UID that no desired pod and no container
// in the list has. A worker makes no volume that this could miss: its network container was
// listed before, or its work was superseded before the list. trashVolumes does nothing while a
// source is not ready: that source may name pods that need them. The error names what cannot be
// moved.
func (kl *Kubelet) trashVolumes(list []dockertools.Listed) error {
	if len(kl.desired.unsynced) > 0 {
		return nil
	}
	needed := map[string]bool{}
	for _, pod := range kl.desired.pods {
		needed[pod.UID] = true
	}
	for i := range list {
		needed[list[i].Of.UID] = true
	}
	uids, err := kl.opts.Volumes.PodUIDs()
	errs := []error{err}
	for _, uid := range uids {
		if needed[uid] {
			continue
		}
		err := kl.opts.Volumes.MoveToTrash(uid)
		errs = append(errs, err)
		if err == nil {
			glog.V(2).Infof("the volumes of uid %s belong to no pod and are removed", uid)
		}
	}
	notify(kl.trash)
	return errors.Join(errs...)
}

// emptyTrash deletes what is in the trash, also from an earlier run, until ctx is done. What
// cannot be deleted is tried again after the next sync.
func (kl *Kubelet) emptyTrash(ctx context.Context) {
	for {
		select {
		case <-kl.trash:
		case <-ctx.Done():
			return
		}
		err := kl.opts.Volumes.EmptyTrash(ctx)
		if ctx.Err() == nil {
			kl.logOnce("remove volumes", err)
		}
	}
}
