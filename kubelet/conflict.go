package kubelet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// nameTaken returns nil if another program's container has the name that an action needs, so
// that the next attempt number is used.
func (w *work) nameTaken(ctx context.Context, a plan.Action, taken error) error {
	all, err := w.kl.docker.ListContainers(ctx, nil)
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
	if _, own := w.kl.opts.Identity.Own(all[i]); own {
		return fmt.Errorf("%w by a container of this pod that was not in the list", taken)
	}
	return w.kl.opts.Identity.Conflict(all[i])
}

// giveWay removes what this kubelet has created since a time at which no other kubelet had its
// hostname: both were started side by side, and the other one waits for the names.
func (kl *Kubelet) giveWay(ctx context.Context, since time.Time) error {
	all, err := kl.docker.ListContainers(ctx, kl.opts.Identity.Selector())
	errs := []error{err}
	for _, c := range all {
		_, own := kl.opts.Identity.Own(c)
		recent := !c.Created.Before(since.Truncate(time.Second)) && !c.Created.After(time.Now()) // Docker's list has whole seconds, and the clock may have been set back
		if own && recent {
			glog.Warningf("removing container %q: another kubelet has created its own before", c.Name)
			errs = append(errs, kl.docker.RemoveContainer(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}
