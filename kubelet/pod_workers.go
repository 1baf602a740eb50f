package kubelet

import (
	"maps"
	"sync"
)

// podWorkers runs one piece of work at a time for each pod, and different pods concurrently (PR #588).
//
// As in 2014, Run does nothing while the pod's worker is busy. In 2014 that lost updates until the next
// tick. Here the end of the work wakes the sync loop, which compares the pod once more.
type podWorkers struct {
	ended func() // called after each piece of work
	wg    sync.WaitGroup

	mu   sync.Mutex
	busy map[string]bool // guarded by mu; by pod full name
}

// Run starts work for a pod unless its worker is busy. The work must not panic.
func (p *podWorkers) Run(podFullName string, work func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[podFullName] {
		return
	}
	p.busy[podFullName] = true
	p.wg.Go(func() {
		work()
		p.mu.Lock()
		delete(p.busy, podFullName)
		p.mu.Unlock()
		p.ended()
	})
}

// Busy returns the pods whose workers are busy.
func (p *podWorkers) Busy() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.busy)
}

// Wait returns when every worker is idle.
func (p *podWorkers) Wait() { p.wg.Wait() }
