package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// pullImage pulls the image of a Create action even if it is present. If the pull fails, a present image will do,
// unless the policy is PullAlways: a registry that is down stops no pod. A built-in image is never pulled.
func (w *work) pullImage(ctx context.Context, a plan.Action) error {
	spec := a.Container.Spec
	if dockertools.IsBuiltin(spec.Image) {
		return nil
	}
	err := w.Images.Require(ctx, w.pod, a.Name.Name, spec.Image, a.PulledSince)
	problem, _ := errors.AsType[plan.Problem](err)
	if err == nil || problem.Reason == api.ReasonPulling || spec.ImagePullPolicy == api.PullAlways {
		return err
	}
	if _, _, missing := w.Docker.InspectImage(ctx, spec.Image); missing != nil {
		return err
	}
	w.Watcher.Warned(a, "used local image", fmt.Sprintf("%q: %v", spec.Image, err))
	return nil
}

// getImage gets an image that was missing at the given time. It returns nil once it is there.
func (w *work) getImage(ctx context.Context, a plan.Action, at time.Time, missing error) error {
	image := w.ImageOf(a.Container)
	switch {
	case dockertools.IsBuiltin(image): // many workers may find it missing at the same time
		w.making.Lock()
		defer w.making.Unlock()
		return dockertools.EnsureBuiltin(ctx, w.Docker, image)
	case a.Container.Spec != nil && a.Container.Spec.ImagePullPolicy == api.PullNever:
		return plan.Problem{Reason: api.ReasonImageNeverPulled, Message: fmt.Sprintf(
			"%s, and by its imagePullPolicy it is never pulled; `docker pull %s` gets it", trimName(a, missing), image)}
	}
	return w.Images.Require(ctx, w.pod, a.Name.Name, image, at)
}
