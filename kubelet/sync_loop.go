package kubelet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Run keeps the pods as updates say until ctx is done, and then returns nil with all
// of them running. It waits for Docker when it is started before it.
func (kl *Kubelet) Run(ctx context.Context, updates <-chan api.PodUpdate) error {
	if err := kl.waitForDocker(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	kl.run(ctx, updates, func() (bool, time.Time) { return false, time.Time{} })
	return nil
}

// run is the sync loop with everything beside it, until ctx is done or a sync has left
// nothing to wait for.
func (kl *Kubelet) run(ctx context.Context, updates <-chan api.PodUpdate, finished func() (bool, time.Time)) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { kl.watchEvents(ctx) })
	wg.Go(func() { kl.emptyTrash(ctx) })
	kl.syncLoop(ctx, updates, finished)
	cancel()
	wg.Wait()
	kl.podWorkers.Wait()
	kl.images.wg.Wait()
	kl.probes.wg.Wait()
}

// syncLoop is the whole life of the kubelet: whatever comes, it ends in a look at
// what is wanted and what is there. Only its goroutine calls SyncPods.
func (kl *Kubelet) syncLoop(ctx context.Context, updates <-chan api.PodUpdate, finished func() (bool, time.Time)) {
	// 2014 made a new timer in each turn, so steady updates put the tick off for ever.
	tick := time.NewTicker(kl.opts.SyncFrequency)
	defer tick.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		kl.health.turn()
		select {
		case <-ctx.Done():
			return
		case update := <-updates:
			glog.V(2).Infof("%s of %d pods", update.Op, len(update.Pods))
			kl.apply(update)
		case <-tick.C:
		case <-retry.C:
		case <-kl.wake.ready:
		}
		if !kl.desired.heard {
			continue
		}
		next, err := kl.SyncPods(ctx)
		if ctx.Err() != nil {
			return
		}
		kl.health.sawDocker(err)
		kl.complain("sync pods", err)
		done, again := finished()
		if done && err == nil {
			return
		}
		next = earliest(next, again)
		retry.Stop()
		if !next.IsZero() {
			retry.Reset(time.Until(next))
		}
	}
}

// apply takes over an update. The events tell what of it is news.
func (kl *Kubelet) apply(update api.PodUpdate) {
	kl.desired.apply(update, kl.opts.NetworkContainerImage, func(podFullName, news string) {
		kl.events.add(podFullName, "", update.Op.String(), "%s", news)
	})
}

// waitForDocker returns once Docker answers and nothing on it forbids to go on.
func (kl *Kubelet) waitForDocker(ctx context.Context) error {
	for said := ""; ; {
		kl.health.turn()
		err := kl.greet(ctx)
		if half := (*dockertools.HalfIdentityError)(nil); err == nil || errors.As(err, &half) {
			if said != "" {
				glog.Info("Docker answers")
			}
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		kl.health.sawDocker(err)
		if err.Error() != said {
			glog.Warningf("waiting for Docker: %v", err)
			said = err.Error()
		}
		if !sleep(ctx, time.Second) {
			return nil
		}
	}
}

// greet finds out that Docker answers, and that no container on it was made by
// what is likely this kubelet under another name.
func (kl *Kubelet) greet(ctx context.Context) error {
	version, err := kl.docker.Version(ctx)
	if err != nil {
		return err
	}
	all, err := kl.docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return err
	}
	if kl.opts.ContainerLog != (dockertools.LogLimit{}) {
		// Only json-file is known to take the limits.
		driver, err := kl.docker.LogDriver(ctx)
		if err != nil {
			return err
		}
		if driver == "json-file" {
			kl.logLimit = kl.opts.ContainerLog
		}
	}
	glog.V(1).Infof("Docker %s (API %s, %s/%s) answers", version.Version, version.APIVersion, version.OS, version.Arch)
	return kl.opts.Identity.CheckHalves(all)
}

// watchEvents turns Docker's events into wakeups until ctx is done. When the stream
// breaks, as at a restart of Docker, it is opened again, and what was missed is made up
// for by a look at everything.
func (kl *Kubelet) watchEvents(ctx context.Context) {
	for lost := false; ; lost = true {
		err := kl.docker.WatchEvents(ctx, kl.opts.Identity.Halves(), func(e dockertools.Event) {
			if e.ID == "" {
				if lost {
					glog.Infof("Docker answers again")
					lost = false
				}
				kl.health.setEvents(nil)
			}
			if e.OutOfMemory {
				kl.observer.noteOutOfMemory(e.ID)
			}
			kl.observer.forget(e.ID)
			kl.wake.sync()
		})
		if ctx.Err() != nil {
			return
		}
		kl.health.setEvents(err)
		if !lost {
			glog.Warningf("Docker's events have stopped; asking again every second: %v", err)
		}
		if !sleep(ctx, time.Second) {
			return
		}
	}
}

// sleep says whether the time has passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
