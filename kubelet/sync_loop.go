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

// Run keeps the pods as updates say until ctx is done, and then returns nil with
// all of them running: a kubelet that ends must not take its pods along. It waits
// for Docker when it is started before it. An error means that it cannot work
// here at all.
func (kl *Kubelet) Run(ctx context.Context, updates <-chan api.PodUpdate) error {
	if err := kl.waitForDocker(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { kl.watchEvents(ctx) })
	wg.Go(func() { kl.emptyTrash(ctx) })
	kl.syncLoop(ctx, updates)
	kl.images.wg.Wait()
	kl.probes.wg.Wait()
	return nil
}

// waitForDocker returns once Docker answers and nothing on it forbids to go on.
func (kl *Kubelet) waitForDocker(ctx context.Context) error {
	for said := ""; ; {
		kl.vitals.turn()
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
		kl.vitals.sawDocker(err)
		if err.Error() != said {
			glog.Warningf("waiting for Docker: %v", err)
			said = err.Error()
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
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
	glog.V(1).Infof("Docker %s (API %s, %s/%s) answers", version.Version, version.APIVersion, version.OS, version.Arch)
	return kl.opts.Identity.CheckHalves(all)
}

// syncLoop is the whole life of the kubelet: whatever comes, it ends in a look at
// what is wanted and what is there. Only its goroutine calls SyncPods.
func (kl *Kubelet) syncLoop(ctx context.Context, updates <-chan api.PodUpdate) {
	kl.podWorkers = newPodWorkers(ctx)
	defer kl.podWorkers.Wait()
	// 2014 made a new timer in each turn, so steady updates put the tick off for ever.
	tick := time.NewTicker(kl.opts.SyncFrequency)
	defer tick.Stop()
	for {
		kl.vitals.turn()
		select {
		case <-ctx.Done():
			return
		case update := <-updates:
			glog.V(2).Infof("%s of %d pods", update.Op, len(update.Pods))
			kl.apply(update)
			kl.sync(ctx)
		case <-tick.C:
			kl.sync(ctx)
		case <-kl.hints.ready:
			kl.followHints(ctx)
		}
	}
}

// apply takes over an update. The events tell what of it is news.
func (kl *Kubelet) apply(update api.PodUpdate) {
	kl.desired.apply(update, kl.opts.NetworkContainerImage, func(podFullName, news string) {
		kl.events.add(podFullName, "", update.Op.String(), "%s", news)
	})
}

// sync looks at every pod, once it is known what is wanted.
func (kl *Kubelet) sync(ctx context.Context) {
	if !kl.desired.heard {
		return
	}
	err := kl.SyncPods(ctx)
	if ctx.Err() == nil {
		kl.vitals.sawDocker(err)
		kl.complain("sync pods", err)
	}
}

// followHints looks at the pods that something happened to. When one of them is
// not wanted, or a pod waits for a port that may now be free, it takes a look at
// all.
func (kl *Kubelet) followHints(ctx context.Context) {
	pods, all := kl.hints.take()
	for name := range pods {
		if _, wanted := kl.desired.pods[name]; !wanted {
			all = true
		}
	}
	if all || kl.anyBlocked {
		kl.sync(ctx)
		return
	}
	since := kl.lister.Mark()
	for name := range pods {
		pod := kl.desired.pods[name]
		kl.work(name, pod.Origin, wish{pod: pod}, since)
	}
}
