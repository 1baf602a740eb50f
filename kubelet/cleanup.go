package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/status"
)

// Cleanup stops and removes every container of this kubelet, then every volume, and the pod network if nothing uses it.
// What fails is tried again for 30 s; the error names what could not be removed. Like Run, it refuses a hostname whose
// containers have another root_dir, unless its own root_dir exists. It is the sync loop without desired pods, and with an end.
func (kl *Kubelet) Cleanup(ctx context.Context) error {
	kl.observer.Cleanup = kl.opts.Volumes != nil // a root_dir that does not exist may be mistyped
	ctx, stop := kl.whileDockerAnswers(ctx)
	defer stop()
	if err := kl.connect(ctx); err != nil {
		return err
	}
	kl.observer.Cleanup = true
	kl.desired.since, kl.opts.RemovalWait = time.Now(), 0
	well, failed := map[string]time.Time{}, []error(nil) // by pod: when it last had no problem
	err := kl.run(ctx, nil, func() (done bool, again time.Time) {
		failed = nil
		for _, p := range kl.records() {
			problems := p.Problems()
			if len(problems) == 0 || well[p.Name].IsZero() {
				well[p.Name] = time.Now()
			}
			if p.work == nil && time.Since(well[p.Name]) > 30*time.Second { // a busy Docker may answer too late once
				failed = append(failed, fmt.Errorf("%s: %s", p.Label(), status.Join(problems)))
			}
		}
		return len(failed) == len(kl.pods), time.Time{}
	})
	if err := cmp.Or(err, context.Cause(ctx), errors.Join(failed...)); err != nil {
		return err
	}
	if err := kl.trashVolumes(nil); err != nil {
		return err
	}
	if err := kl.opts.Volumes.EmptyTrash(ctx); err != nil {
		return err
	}
	if network := kl.opts.PodNetwork; network != dockertools.BridgeNetwork { // other kubelets may use it
		if err := kl.opts.Docker.RemoveNetwork(ctx, network); err != nil {
			return err
		}
	}
	volumes := "all their volumes"
	if kl.opts.Volumes == nil {
		volumes = "no volumes, since no kubelet14 has worked in that directory"
	}
	claims, err := kl.opts.Volumes.Claims()
	if len(claims) > 0 {
		glog.Infof("these claims stay; their data is yours. Remove them with: sudo rm -rf %s", strings.Join(claims, " "))
	}
	glog.Infof("removed %s of hostname %s and root_dir %s, and %s",
		api.Count(len(well), "pod"), kl.opts.Identity.Hostname, kl.opts.Identity.RootDir, volumes)
	return err
}

// giveWay removes what this kubelet has created since it last had the hostname to itself. Another
// kubelet was started beside it and waits for the names.
func (kl *Kubelet) giveWay(ctx context.Context, since time.Time) error {
	all, err := kl.opts.Docker.ListContainers(ctx, kl.opts.Identity.Selector())
	errs := []error{err}
	for _, c := range all {
		_, own := kl.opts.Identity.Own(c)
		// Docker's list has whole seconds, and the clock may have been set back.
		recent := !c.Created.Before(since.Truncate(time.Second)) && !c.Created.After(time.Now())
		if own && recent {
			glog.Warningf("removing container %q: another kubelet has created its own before", c.Name)
			errs = append(errs, kl.opts.Docker.RemoveContainer(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}
