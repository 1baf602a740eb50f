package kubelet

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/golang/glog"
)

// podWorkers runs at most one piece of work at a time for each pod, and the work
// of different pods side by side (PR #588). A pod that pulls an image or waits
// out a grace period holds back no other.
//
// 2014 dropped what came while a worker was busy, so an edit could wait for the
// next sync; and a worker that panicked left its pod marked as busy for ever.
// Here the newest request is kept and runs next, and a panic frees the worker.
type podWorkers struct {
	ctx context.Context // of all work
	wg  sync.WaitGroup

	mu      sync.Mutex
	workers map[string]*podWorker // by pod full name; a worker is in it while its goroutine runs
}

// podWork is one piece of work on a pod. It returns when to do it again without
// being asked; the zero time means not before the next Run.
type podWork func(ctx context.Context) (again time.Time)

// podWorker is the worker of one pod. Its fields are guarded by podWorkers.mu.
type podWorker struct {
	pending podWork       // the newest request that has not begun; nil when there is none
	wake    chan struct{} // 1-slot; tells a worker that waits for its time of a new request
}

func newPodWorkers(ctx context.Context) *podWorkers {
	return &podWorkers{ctx: ctx, workers: map[string]*podWorker{}}
}

// Run makes the pod's worker do work: at once when it is idle, next when it is
// busy, and instead of any earlier request that has not begun. It never waits.
func (p *podWorkers) Run(podFullName string, work podWork) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, ok := p.workers[podFullName]
	if !ok {
		w = &podWorker{wake: make(chan struct{}, 1)}
		p.workers[podFullName] = w
		p.wg.Go(func() { p.serve(podFullName, w) })
	}
	w.pending = work
	select {
	case w.wake <- struct{}{}:
	default: // it has been told already
	}
}

// Has says whether the pod has a worker: one that is at work, or waits for its
// time.
func (p *podWorkers) Has(podFullName string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.workers[podFullName]
	return ok
}

// Wait returns when every worker has ended, which they do once their context is
// done.
func (p *podWorkers) Wait() {
	p.wg.Wait()
}

// serve does the pod's work until there is none left and no time to wait for.
func (p *podWorkers) serve(podFullName string, w *podWorker) {
	var work podWork
	var again time.Time
	for {
		p.mu.Lock()
		idle := w.pending == nil && again.IsZero()
		if idle || p.ctx.Err() != nil {
			delete(p.workers, podFullName)
			p.mu.Unlock()
			return
		}
		if w.pending == nil && time.Now().Before(again) {
			p.mu.Unlock()
			p.waitUntil(again, w.wake)
			continue
		}
		if w.pending != nil {
			work, w.pending = w.pending, nil
		}
		p.mu.Unlock()
		again = p.do(podFullName, work)
	}
}

// waitUntil returns at the given time, at a new request, or at the end.
func (p *podWorkers) waitUntil(t time.Time, wake <-chan struct{}) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-p.ctx.Done():
	}
}

// do runs the work. A panic of one pod's work is logged and is the end of that
// work alone.
func (p *podWorkers) do(podFullName string, work podWork) (again time.Time) {
	defer func() {
		if r := recover(); r != nil {
			glog.Errorf("pod %s: its worker panicked, and tries again at the next sync: %v\n%s", podFullName, r, debug.Stack())
		}
	}()
	return work(p.ctx)
}
