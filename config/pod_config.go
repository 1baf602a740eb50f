package config

import (
	"context"
	"sync"

	"kubelet14/api"
)

// PodConfigNotificationMode is the form in which PodConfig sends a change (PR #356).
type PodConfigNotificationMode int

const (
	// PodConfigNotificationSnapshot sends every change as a SET of all pods.
	PodConfigNotificationSnapshot PodConfigNotificationMode = iota
	// PodConfigNotificationSnapshotAndUpdates sends an UPDATE of the pods that changed
	// and then, if pods were added or removed, a SET of all. The kubelet uses this one.
	PodConfigNotificationSnapshotAndUpdates
	// PodConfigNotificationIncremental sends REMOVE, ADD and UPDATE, in this order, each
	// with the pods it is about and only if there are any.
	PodConfigNotificationIncremental
)

// PodConfig merges the pods of all sources into one stream of updates. Its methods may be called by any goroutine, but
// the one that receives the updates may only call Updates and Wait.
type PodConfig struct {
	*podStorage // Merge, MergedState, Sync
	*Mux        // Wait
}

// NewPodConfig returns a PodConfig without sources.
func NewPodConfig(mode PodConfigNotificationMode) *PodConfig {
	pods := newPodStorage(mode, make(chan api.PodUpdate))
	return &PodConfig{pods, NewMux(pods.Merge)}
}

// Channel declares a source, which is not ready yet, and returns the channel to send its updates to; see Mux.Channel.
// Declare every source before the first one sends: a source that is not declared yet counts as empty, and its pods are
// removed.
func (c *PodConfig) Channel(ctx context.Context, source string) chan<- api.PodUpdate {
	c.declare(source)
	return c.Mux.Channel(ctx, source)
}

// Start runs sources until ctx is done. Wait waits for them too.
func (c *PodConfig) Start(ctx context.Context, sources ...Source) {
	var channels []chan<- api.PodUpdate
	for _, source := range sources {
		channels = append(channels, c.Channel(ctx, source.Status().Source))
	}
	for i, source := range sources {
		c.serving.Go(func() { source.Run(ctx, channels[i]) })
	}
}

// Updates returns the channel of all changes, in order. A slow receiver delays the sources and misses nothing.
func (c *PodConfig) Updates() <-chan api.PodUpdate { return c.updates }

// MergeFunc merges an update of a source, and gives up when ctx is done. It is called by one goroutine for each source.
type MergeFunc func(ctx context.Context, source string, update api.PodUpdate)

// Mux passes the updates of any number of sources to one MergeFunc. In 2014 its channels carried interface{}, so an
// update of a wrong type made another goroutine panic.
type Mux struct {
	merge   MergeFunc
	serving sync.WaitGroup

	mu       sync.Mutex
	channels map[string]chan api.PodUpdate // by source
}

// NewMux returns a Mux without sources.
func NewMux(merge MergeFunc) *Mux {
	return &Mux{merge: merge, channels: map[string]chan api.PodUpdate{}}
}

// Channel returns the channel of a source, the same one for the same name. The first call starts the goroutine that
// receives from it until ctx is done; senders must give up then too. The channel is never closed.
func (m *Mux) Channel(ctx context.Context, source string) chan<- api.PodUpdate {
	m.mu.Lock()
	defer m.mu.Unlock()
	updates, ok := m.channels[source]
	if !ok {
		updates = make(chan api.PodUpdate)
		m.channels[source] = updates
		m.serving.Go(func() { m.serve(ctx, source, updates) })
	}
	return updates
}

// Wait returns when the goroutines of all sources have ended, which they do when their context is done.
func (m *Mux) Wait() { m.serving.Wait() }

func (m *Mux) serve(ctx context.Context, source string, updates <-chan api.PodUpdate) {
	for {
		select {
		case <-ctx.Done():
			return
		case update := <-updates:
			m.merge(ctx, source, update)
		}
	}
}
