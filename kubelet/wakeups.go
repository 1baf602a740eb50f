package kubelet

import "sync/atomic"

// wakeup asks for another sync. A thousand events are one sync.
type wakeup struct {
	ready      chan struct{} // 1-slot
	generation atomic.Uint64 // changes when what failed or had to wait may succeed now
}

// sync asks for a sync.
func (w *wakeup) sync() {
	select {
	case w.ready <- struct{}{}:
	default: // one is asked for already
	}
}

// retry asks for a sync in which no pod waits for its retry time.
func (w *wakeup) retry() {
	w.generation.Add(1)
	w.sync()
}
