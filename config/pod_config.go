package config

import (
	"context"

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
// Its methods may be called by any number of goroutines at once.
type PodConfig struct {
	pods    *podStorage
	mux     *Mux
	updates chan api.PodUpdate // never closed
}

// NewPodConfig returns a PodConfig without sources. Every pod must be valid by
// rules.
func NewPodConfig(mode PodConfigNotificationMode, rules validation.Rules) *PodConfig {
	updates := make(chan api.PodUpdate)
	pods := newPodStorage(mode, rules, updates)
	return &PodConfig{pods: pods, mux: NewMux(pods), updates: updates}
}

// Channel declares a source and returns the channel to send its updates to; see
// Mux.Channel. From now on the source is in api.PodUpdate.Silent until it has
// spoken. So declare all sources before the first of them sends: one declared
// later would be taken for empty until then, and its pods removed.
//
// When ctx is done, what the source was about to say is lost. Give all sources
// the context of the whole program.
func (c *PodConfig) Channel(ctx context.Context, source string) chan<- api.PodUpdate {
	c.pods.declare(source)
	return c.mux.Channel(ctx, source)
}

// Updates returns what to receive from: every change, in order. A slow receiver
// holds back the sources, and loses nothing.
func (c *PodConfig) Updates() <-chan api.PodUpdate {
	return c.updates
}

// Sync sends a SET of all pods, changed or not. It returns when that has been
// received, or ctx is done; so the receiver itself cannot call it.
func (c *PodConfig) Sync(ctx context.Context) {
	c.pods.Sync(ctx)
}

// Wait returns when the goroutines of all sources have ended, which they do once
// their context is done.
func (c *PodConfig) Wait() {
	c.mux.Wait()
}
