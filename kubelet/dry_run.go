package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/watch"
)

// DryRun prints what a sync would do to each pod and why, and changes nothing. The error names sources
// that could not be read and pods that could not be inspected.
func (kl *Kubelet) DryRun(ctx context.Context, updates <-chan api.PodUpdate, w io.Writer) error {
	ctx, stop := kl.whileDockerAnswers(ctx)
	defer stop()
	if err := kl.connect(ctx); err != nil {
		return err
	}
	sourcesErr, err := kl.waitForSources(ctx, updates, func(update api.PodUpdate) {
		kl.desired.apply(update, kl.opts.NetworkContainerImage, func(string, *plan.Pod, watch.Change) {}) // and logs nothing
	})
	if err != nil {
		return err
	}
	list, err := kl.observer.List(ctx)
	if err != nil {
		return err
	}
	kl.planPods(ctx, list, nil)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	errs := []error{sourcesErr}
	for _, p := range kl.records() {
		fmt.Fprintln(w, p.Label())
		switch {
		case p.Err != nil:
			fmt.Fprintf(w, "  cannot be inspected: %v\n", p.Err)
			errs = append(errs, fmt.Errorf("pod %s: %w", p.Name, p.Err))
		case p.Waits():
			fmt.Fprintf(w, "  waits: %s\n", p.Wait.Message)
			if p.Wait.Reason == api.ReasonRemoved {
				kl.writePlan(ctx, w, p.Plan)
			}
		case p.Desired != nil && p.Desired.Stopped != "" && len(p.Plan.Steps) == 0:
			fmt.Fprintf(w, "  %s\n", p.Desired.Stopped)
		default:
			kl.writePlan(ctx, w, p.Plan)
		}
	}
	return errors.Join(append(errs, context.Cause(ctx))...)
}

// writePlan writes the steps of a plan, and the images that they lack.
func (kl *Kubelet) writePlan(ctx context.Context, w io.Writer, p plan.Plan) {
	for _, a := range p.Actions() {
		fmt.Fprintf(w, "  %-6s %s (attempt %d): %s\n", a.Kind, a.Name.Name, a.Name.Attempt, a.Reason)
		if a.Kind != plan.Create {
			continue
		}
		image := kl.executor.ImageOf(a.Container)
		if dockertools.IsBuiltin(image) {
			continue
		}
		_, _, err := kl.opts.Docker.InspectImage(ctx, image)
		missing := errors.Is(err, dockertools.ErrNoSuchImage)
		switch {
		case missing && a.Container.Spec != nil && a.Container.Spec.ImagePullPolicy == api.PullNever:
			fmt.Fprintf(w, "         fails: image %s is missing, and by its imagePullPolicy it is never pulled\n", image)
		case missing || !a.PulledSince.IsZero():
			fmt.Fprintf(w, "         after a pull of %s\n", image)
		}
	}
	if p.Init != "" {
		fmt.Fprintf(w, "  the other containers wait for init container %q and those after it\n", p.Init)
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(w, "  %v\n", problem)
	}
	if len(p.Steps) == 0 && len(p.Problems) == 0 && p.Init == "" {
		fmt.Fprintln(w, "  is as it should be")
	}
}
