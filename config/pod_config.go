package config

import (
	"context"
	"sync"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// PodConfigNotificationMode says how PodConfig tells of a change (PR #356).
type PodConfigNotificationMode int

const (
	// PodConfigNotificationSnapshot sends every change as a SET of all pods.
	PodConfigNotificationSnapshot PodConfigNotificationMode = iota
	// PodConfigNotificationSnapshotAndUpdates sends changed pods as an UPDATE with
	// those alone, and then, when pods came or went, a SET of all. The kubelet
	// works with this one.
	PodConfigNotificationSnapshotAndUpdates
	// PodConfigNotificationIncremental sends REMOVE, ADD and UPDATE, in this order,
	// each with the pods it is about and only when there are any.
	PodConfigNotificationIncremental
)

// PodConfig merges what all sources want into one stream of updates.
//
// Its methods may be called by any number of goroutines at once, but the one that
// receives may not call Channel or Sync: they wait for it.
type PodConfig struct {
	pods *podStorage
	mux  *Mux
}

// NewPodConfig returns a PodConfig without sources, for pods valid by rules.
func NewPodConfig(mode PodConfigNotificationMode, rules validation.Rules) *PodConfig {
	pods := newPodStorage(mode, rules, make(chan api.PodUpdate))
	return &PodConfig{pods: pods, mux: NewMux(pods.Merge)}
}

// Channel declares a source and returns the channel to send its updates to; see
// Mux.Channel. From now on the source is in api.PodUpdate.Unsynced until it has
// spoken. So declare all sources before the first of them sends: one declared
// later would be taken for empty until then, and its pods removed.
// Give all sources the context of the whole program.
func (c *PodConfig) Channel(ctx context.Context, source string) chan<- api.PodUpdate {
	c.pods.declare(source)
	return c.mux.Channel(ctx, source)
}

// Updates returns what to receive from: every change, in order. A slow receiver
// holds back the sources, and loses nothing.
func (c *PodConfig) Updates() <-chan api.PodUpdate {
	return c.pods.updates
}

// Sync sends a SET of all pods, changed or not. It returns when that has been
// received, or ctx is done.
func (c *PodConfig) Sync(ctx context.Context) {
	c.pods.Sync(ctx)
}

// Wait is Mux.Wait.
func (c *PodConfig) Wait() {
	c.mux.Wait()
}

// MergeFunc takes what a source sends. It returns what is wrong with the update,
// after it has done what it could, and gives up when ctx is done. Each source
// has a goroutine that calls it, so calls for two sources may run at once.
type MergeFunc func(ctx context.Context, source string, update api.PodUpdate) error

// Mux joins any number of sources into one MergeFunc. 2014's carried interface{},
// so a sender of the wrong type panicked far away, and dropped what Merge said.
type Mux struct {
	merge MergeFunc
	wg    sync.WaitGroup

	mu      sync.Mutex
	sources map[string]chan api.PodUpdate
}

// NewMux returns a Mux that gives everything to merge.
func NewMux(merge MergeFunc) *Mux {
	return &Mux{merge: merge, sources: map[string]chan api.PodUpdate{}}
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
			if err := m.merge(ctx, source, update); err != nil && ctx.Err() == nil {
				glog.Errorf("Pods from source %q: %v", source, err)
			}
		}
	}
}
