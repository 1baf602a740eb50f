package kubelet

import (
	"context"
	"errors"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dns"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
)

// Run keeps the pods as the updates describe them until ctx is done, and leaves them running. It waits
// for Docker to come up. The error is that another kubelet has the same hostname or root_dir.
func (kl *Kubelet) Run(ctx context.Context, updates <-chan api.PodUpdate) error {
	if err := kl.waitForDocker(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	return kl.run(ctx, updates, func() (done bool, again time.Time) { return false, time.Time{} })
}

// run runs the sync loop and the goroutines beside it until ctx is done, or until finished
// reports it. The error is that of Run.
func (kl *Kubelet) run(ctx context.Context, updates <-chan api.PodUpdate, finished func() (done bool, again time.Time)) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { kl.watchEvents(ctx) })
	wg.Go(func() { kl.emptyTrash(ctx) })
	wg.Go(func() { kl.configs.Run(ctx) })
	err := kl.syncLoop(ctx, updates, finished)
	cancel()
	wg.Wait()
	kl.workers.Wait()
	kl.images.Wait()
	kl.probes.Wait()
	return err
}

// syncLoop calls SyncPods for each update, each tick, each retry that is due and each wakeup. finished is called after
// each sync that succeeded, and returns when to call it again even if nothing happens.
func (kl *Kubelet) syncLoop(ctx context.Context, updates <-chan api.PodUpdate, finished func() (done bool, again time.Time)) error {
	alarm := &alarm{tick: time.NewTicker(kl.opts.SyncFrequency), retry: time.NewTimer(1 << 62)}
	sole := time.Now() // when this kubelet last had its hostname to itself
	for kl.wait(ctx, updates, alarm) {
		began, idle := time.Now(), len(kl.workers.Busy()) == 0
		kl.health.locked(func(h *healthState) { h.busy = began })
		again, err := kl.SyncPods(ctx)
		alarm.rest = nil
		if len(kl.workers.Busy()) > 0 {
			alarm.rest = time.After(min(restFactor*time.Since(began), maxRest))
		}
		if ctx.Err() != nil {
			return nil
		}
		if _, conflict := errors.AsType[*dockertools.IdentityConflictError](err); conflict && idle { // a busy worker may be creating the older container
			return errors.Join(err, kl.giveWay(ctx, sole))
		}
		kl.errors.Log("sync pods", err)
		if err == nil {
			if idle { // Docker dates what a worker creates from the beginning of the call, and lists it at the end
				sole = began
			}
			done, ask := finished()
			if done {
				return nil
			}
			again = plan.Earliest(again, ask)
		}
		alarm.set(again)
	}
	return nil
}

// alarm is what makes the sync loop look at Docker although nothing has happened.
type alarm struct {
	tick  *time.Ticker // in 2014 each turn made a new timer, so steady updates postponed the tick for ever
	retry *time.Timer
	rest  <-chan time.Time // wakeups wait until then; nil: they do not
}

// set sets the time of the next retry. The zero time means none.
func (a *alarm) set(retry time.Time) {
	if a.retry.Stop(); !retry.IsZero() {
		a.retry.Reset(time.Until(retry))
	}
}

// While a hundred pods start, every end of work is a wakeup, and each list takes time from
// Docker: the more of it, the more containers there are. So while workers are busy, wakeups
// wait after a sync: restFactor times as long as that took, but not longer than maxRest.
const (
	restFactor = 9
	maxRest    = time.Second
)

// wait returns when there is a reason to sync, and false when ctx is done. It applies updates.
// Before the first SET there is none: nobody knows what is desired.
func (kl *Kubelet) wait(ctx context.Context, updates <-chan api.PodUpdate, alarm *alarm) bool {
	kl.health.locked(func(h *healthState) { h.busy = time.Time{} })
	for {
		wakeup := kl.wakeup
		if alarm.rest != nil {
			wakeup = nil
		}
		select {
		case <-ctx.Done():
			return false
		case update := <-updates:
			kl.applyUpdate(update)
		case <-alarm.tick.C:
			kl.watcher.Woken(watch.Tick)
		case <-alarm.retry.C:
			kl.watcher.Woken(watch.Retry)
		case <-wakeup:
		case <-alarm.rest:
			alarm.rest = nil
			continue
		}
		if !kl.desired.since.IsZero() {
			return true
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
	kl.configs.Update(update.Configs, kl.desired.pods)
	kl.errors.Log("find pods by name", dns.CheckNames(kl.desired.pods, kl.opts.PodNetwork, kl.ownNetwork()))
}
