package kubelet

import (
	"context"
	"errors"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
)

// Run keeps the pods as the updates describe them until ctx is done. It then returns nil
// and leaves the pods running. It waits for Docker to come up. The error is that another
// kubelet has the same hostname or root_dir.
func (kl *Kubelet) Run(ctx context.Context, updates <-chan api.PodUpdate) error {
	if err := kl.waitForDocker(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	return kl.run(ctx, updates, func() (done bool, again time.Time) { return false, time.Time{} })
}

// run runs the sync loop and the goroutines beside it until ctx is done or, after a sync,
// finished reports true. The error is that of Run.
func (kl *Kubelet) run(ctx context.Context, updates <-chan api.PodUpdate, finished func() (done bool, again time.Time)) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { kl.watchEvents(ctx) })
	wg.Go(func() { kl.emptyTrash(ctx) })
	err := kl.syncLoop(ctx, updates, finished)
	cancel()
	wg.Wait()
	kl.workers.Wait()
	kl.images.Wait()
	kl.probes.Wait()
	return err
}

// While a hundred pods start, every end of work is a wakeup, and each list takes time from
// Docker: the more of it, the more containers there are. So while workers are busy, wakeups
// wait after a sync: restFactor times as long as that took, but not longer than maxRest.
const (
	restFactor = 9
	maxRest    = time.Second
)

// syncLoop calls SyncPods for each update, each tick, each retry that is due and each
// wakeup. finished is called after each sync that succeeded, and returns when to call it
// again even if nothing happens.
func (kl *Kubelet) syncLoop(ctx context.Context, updates <-chan api.PodUpdate, finished func() (done bool, again time.Time)) error {
	// In 2014 each turn made a new timer, so steady updates postponed the tick for ever.
	tick := time.NewTicker(kl.opts.SyncFrequency)
	defer tick.Stop()
	retry := time.NewTimer(0)
	defer retry.Stop()
	alone := time.Now() // when no other kubelet was there that could stop this one
	wakeup, rested := kl.wakeup, (<-chan time.Time)(nil)
	for {
		kl.health.set(func(h *healthState) { h.busy = time.Time{} })
		select {
		case <-ctx.Done():
			return nil
		case update := <-updates:
			kl.applyUpdate(update)
		case <-tick.C:
			kl.watcher.Woken(watch.Tick)
		case <-retry.C:
			kl.watcher.Woken(watch.Retry)
		case <-wakeup:
		case <-rested:
			wakeup, rested = kl.wakeup, nil
			continue
		}
		if kl.desired.since.IsZero() {
			continue
		}
		began, idle := time.Now(), len(kl.workers.Busy()) == 0
		kl.health.set(func(h *healthState) { h.busy = began })
		next, err := kl.SyncPods(ctx)
		if len(kl.workers.Busy()) > 0 {
			wakeup, rested = nil, time.After(min(restFactor*time.Since(began), maxRest))
		}
		if ctx.Err() != nil {
			return nil
		}
		if conflict := (*dockertools.IdentityConflictError)(nil); errors.As(err, &conflict) && idle { // else a worker may be creating what is older
			return errors.Join(err, kl.giveWay(ctx, alone))
		}
		kl.logOnce("sync pods", err)
		if err == nil {
			if idle { // what a worker is creating is dated from the beginning of the call, and listed at its end
				alone = began
			}
			done, again := finished()
			if done {
				return nil
			}
			next = earliest(next, again)
		}
		retry.Stop()
		if !next.IsZero() {
			retry.Reset(time.Until(next))
		}
	}
}

// applyUpdate changes the desired state. The worker of a pod that changes stops at the end of a step.
func (kl *Kubelet) applyUpdate(update api.PodUpdate) {
	kl.watcher.Woken(map[api.PodOperation]watch.Cause{api.SET: watch.SET, api.UPDATE: watch.UPDATE}[update.Op])
	kl.desired.apply(update, kl.opts.NetworkContainerImage, func(name string, pod *plan.Pod, change watch.Change) {
		seen := status.Pod{Name: name}
		if p := kl.pods[name]; p != nil {
			seen.Origin, seen.Observed = p.Origin, p.Observed
			if p.work != nil {
				p.work.supersede()
			}
		}
		if seen.Desired = pod; pod != nil {
			seen.Origin = pod.Origin
		}
		kl.watcher.Changed(&seen, change, update.Op)
	})
	kl.logOnce("find pods by name", kl.checkNames())
}

// earliest returns the earlier of two times. The zero time means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
