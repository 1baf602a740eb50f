package kubelet

import (
	"maps"
	"sync"
)

// podWorkers runs at most one piece of work at a time for each pod, and the work of
// different pods side by side (PR #588).
//
// As in 2014, Run does nothing while the pod's worker is busy. In 2014 that lost
// updates until the next tick. Here the end of each piece of work wakes the sync loop,
// which compares what is wanted with what is there once more: nothing is lost.
type podWorkers struct {
	done func() // called at the end of each piece of work
	wg   sync.WaitGroup

	mu   sync.Mutex
	busy map[string]bool // by pod full name
}

func newPodWorkers(done func()) *podWorkers {
	return &podWorkers{done: done, busy: map[string]bool{}}
}

// Run starts the work unless the pod's worker is busy, and says whether it did.
func (p *podWorkers) Run(podFullName string, work func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[podFullName] {
		return false
	}
	p.busy[podFullName] = true
	p.wg.Go(func() {
		defer p.done() // also after a panic that work has recovered from
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.busy, podFullName)
		}()
		work()
	})
	return true
}

// Busy returns the pods whose workers are at work.
func (p *podWorkers) Busy() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.busy)
}

// Wait returns when every worker has ended.
func (p *podWorkers) Wait() { p.wg.Wait() }
