package config

import (
	"context"
	"sync"

	"github.com/golang/glog"

	"kubelet14/api"
)

// Merger takes what the sources send. Merge is called by one goroutine for each
// source, so two calls may run at once, and never two for the same source.
type Merger interface {
	// Merge returns what is wrong with the update, after it has done what it could.
	// It gives up when ctx is done.
	Merge(ctx context.Context, source string, update api.PodUpdate) error
}

// The MergeFunc type is a Merger of one function.
type MergeFunc func(ctx context.Context, source string, update api.PodUpdate) error

// Merge calls f.
func (f MergeFunc) Merge(ctx context.Context, source string, update api.PodUpdate) error {
	return f(ctx, source, update)
}

// Mux joins any number of sources into one Merger. 2014's carried interface{},
// so a sender of the wrong type panicked far away, and dropped what Merge said.
type Mux struct {
	merger Merger
	wg     sync.WaitGroup

	mu      sync.Mutex
	sources map[string]chan api.PodUpdate
}

// NewMux returns a Mux that gives everything to merger.
func NewMux(merger Merger) *Mux {
	return &Mux{merger: merger, sources: map[string]chan api.PodUpdate{}}
}

// Channel returns the channel of a source: always the same one for the same
// name. The first call starts the goroutine that serves it until ctx is done;
// who sends must give up then too, since nobody receives any more. Nobody closes
// the channel. An empty name is a mistake in the program, and panics.
func (m *Mux) Channel(ctx context.Context, source string) chan<- api.PodUpdate {
	if source == "" {
		panic("config: a source needs a name")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if updates, ok := m.sources[source]; ok {
		return updates
	}
	updates := make(chan api.PodUpdate)
	m.sources[source] = updates
	m.wg.Go(func() { m.serve(ctx, source, updates) })
	return updates
}

// Wait returns when the goroutines of all sources have ended, which they do once
// their context is done.
func (m *Mux) Wait() {
	m.wg.Wait()
}

func (m *Mux) serve(ctx context.Context, source string, updates <-chan api.PodUpdate) {
	for {
		select {
		case <-ctx.Done():
			return
		case update := <-updates:
			if err := m.merger.Merge(ctx, source, update); err != nil && ctx.Err() == nil {
				glog.Errorf("Pods from source %q: %v", source, err)
			}
		}
	}
}
