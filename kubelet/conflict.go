package kubelet

import (
	"context"
	"errors"
	"time"

	"github.com/golang/glog"
)

// giveWay removes what this kubelet has created since it last had the hostname to itself. Another
// kubelet was started beside it and waits for the names.
func (kl *Kubelet) giveWay(ctx context.Context, since time.Time) error {
	all, err := kl.docker.ListContainers(ctx, kl.opts.Identity.Selector())
	errs := []error{err}
	for _, c := range all {
		_, own := kl.opts.Identity.Own(c)
		// Docker's list has whole seconds, and the clock may have been set back.
		recent := !c.Created.Before(since.Truncate(time.Second)) && !c.Created.After(time.Now())
		if own && recent {
			glog.Warningf("removing container %q: another kubelet has created its own before", c.Name)
			errs = append(errs, kl.docker.RemoveContainer(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}
