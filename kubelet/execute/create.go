package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/plan"
)

// create creates a container once its image is there. Names are unique in Docker, and that is the lock: if
// an earlier call succeeded and its answer was lost, the name is taken and the next sync finds the
// container. If another program has the name, its attempt number is skipped.
func (w *work) create(ctx context.Context, a plan.Action) error {
	if !a.PulledSince.IsZero() {
		if err := w.pullImage(ctx, a); err != nil {
			return err
		}
	}
	if a.Container.NeedsIP {
		network, err := w.Docker.InspectContainer(ctx, a.NetworkID)
		if err != nil {
			return err
		}
		a.PodIP = network.IP
	}
	mounts, err := w.setUpVolumes(ctx, w.pod, a)
	if err != nil {
		return err
	}
	defer w.slot(ctx, a)()
	for range 10 {
		at := time.Now()
		spec, err := w.containerSpec(w.pod, a, mounts)
		if err != nil {
			return err
		}
		if err = images.CheckUser(ctx, w.Docker, a.Container.Spec); err == nil {
			a.ID, err = w.Docker.CreateContainer(ctx, spec)
		}
		switch {
		case err == nil:
			w.mu.Lock()
			w.created[a.Name.Name] = a
			w.mu.Unlock()
			w.Watcher.Did(a)
			return nil
		case errors.Is(err, dockertools.ErrNoSuchImage):
			if err := w.getImage(ctx, a, at, err); err != nil {
				return err
			}
		case errors.Is(err, dockertools.ErrNameTaken):
			if err := w.nameTaken(ctx, a, err); err != nil {
				return err
			}
			a.Name.Attempt++
		default:
			return err
		}
	}
	return errors.New("there is no free name, or no image, after 10 tries")
}

// nameTaken returns nil if the container of another program has the name, so that the next attempt number is used.
func (w *work) nameTaken(ctx context.Context, a plan.Action, taken error) error {
	all, err := w.Docker.ListContainers(ctx, nil)
	if err != nil {
		return errors.Join(taken, err)
	}
	i := slices.IndexFunc(all, func(c dockertools.Container) bool { return c.Name == a.Name.String() })
	switch once := w.pod.Complete.RestartPolicy.Never != nil && a.Container.Spec != nil; {
	case i < 0 && once:
		return fmt.Errorf("%w by a container that Docker does not list: it may have lost one that has run, and with the policy never it "+
			"is not started again. To run it anew, give the manifest another id or uuid", taken)
	case i < 0:
		return nil
	}
	if _, own := w.Identity.Own(all[i]); own {
		return fmt.Errorf("%w by a container of this pod that was not in the list", taken)
	}
	return w.Identity.Conflict(all[i])
}
