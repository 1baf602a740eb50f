package dockertools

import "context"

// fakeWatcher is one event stream.
type fakeWatcher struct {
	labels map[string]string
	queue  []Event       // guarded by the mutex of the fakeDocker
	wake   chan struct{} // 1-slot: the queue is not empty
}

// WatchEvents implements Interface.
func (d *fakeDocker) WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error {
	w := &fakeWatcher{labels: labels, wake: make(chan struct{}, 1)}
	d.mu.Lock()
	d.watchers[w] = true
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watchers, w)
	}()

	hint(Event{})
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil
		}
		d.mu.Lock()
		events := w.queue
		w.queue = nil
		d.mu.Unlock()
		for _, e := range events {
			hint(e)
		}
	}
}

// emit tells every watcher that a container has changed.
func (d *fakeDocker) emit(c *fakeContainer) {
	for w := range d.watchers {
		if !c.hasLabels(w.labels) {
			continue
		}
		w.queue = append(w.queue, Event{ID: c.ID, Name: c.Name})
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
