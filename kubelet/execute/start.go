package execute

import (
	"context"
	"errors"
	"fmt"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// start starts a container and runs its postStart hook. If an older attempt has come back to life since the
// plan was made, it does nothing: the next plan decides.
func (w *work) start(ctx context.Context, a plan.Action) error {
	for _, other := range a.Others {
		if details, err := w.Docker.InspectContainer(ctx, other); err == nil && details.State.Live() {
			w.Watcher.Told(a, "not started", fmt.Sprintf("attempt %d: an older one runs again", a.Name.Attempt))
			w.Observer.Changed(other, false)
			return nil
		}
	}
	err := w.startContainer(ctx, a)
	if err != nil {
		w.Observer.Changed(a.ID, false) // a failed start leaves its error in the container, and no event
		if dockertools.IsMountMissing(err) {
			err = errors.Join(err, w.Docker.RemoveContainer(ctx, a.ID)) // the next one gets its volumes anew
		}
		return err
	}
	w.Watcher.Did(a)
	return w.postStart(ctx, a)
}

// startContainer starts a container. A network container makes the pod network first if it is missing.
func (w *work) startContainer(ctx context.Context, a plan.Action) error {
	defer w.slot(ctx, a)()
	joins := a.Name.Name == api.NetworkContainerName && !w.pod.Complete.HostNetwork
	for try := 1; ; try++ {
		if joins {
			if err := w.makePodNetwork(ctx, try > 1); err != nil {
				return err
			}
		}
		err := w.Docker.StartContainer(ctx, a.ID)
		if !joins || try == 3 || !errors.Is(err, dockertools.ErrNoSuchNetwork) {
			return err
		}
	}
}
