package main

import (
	"context"
	"log"
	"maps"
	"sync"
)

// workers carry out plans, one worker for each pod. Its methods may be called concurrently.
type workers struct {
	wakeup chan struct{} // has a value when a worker has ended since the last look
	all    sync.WaitGroup

	mu   sync.Mutex
	pods map[string]bool // whose workers are busy
}

func newWorkers() *workers {
	return &workers{wakeup: make(chan struct{}, 1), pods: map[string]bool{}}
}

// busy returns the pods whose workers are busy. A list that is asked for afterwards shows all that the workers of the
// other pods have done.
func (w *workers) busy() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.pods)
}

// run begins to carry out the plan of an idle pod.
func (w *workers) run(ctx context.Context, pod string, plan [][]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[pod] = true
	w.all.Go(func() {
		err := carryOut(ctx, plan)
		if err != nil {
			log.Print(err) // the next turn tries again
		}
		w.end(pod, err == nil)
	})
}

// end makes a pod idle. After work that was done it lets the loop look again: meanwhile the manifest may have changed. An
// error would come again at once.
func (w *workers) end(pod string, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pods, pod)
	if !done {
		return
	}
	select {
	case w.wakeup <- struct{}{}:
	default: // one is enough: a look compares everything
	}
}
