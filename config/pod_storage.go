package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// podStorage holds what every source wants, and tells of every change. What it
// sends is a deep copy, so a receiver that writes harms nobody.
type podStorage struct {
	mode  PodConfigNotificationMode
	rules validation.Rules

	// mu is held from the look at the old state until the last update about the new
	// one has been received: that is what keeps updates in order. So whoever
	// receives cannot call Merge, Sync, MergedState or declare; the other methods
	// are called with it held.
	mu      sync.Mutex
	updates chan api.PodUpdate // never closed
	sources map[string]*sourceState
}

// sourceState is what is known of one source.
type sourceState struct {
	pods   podSet
	spoken bool  // has sent one update without an error since start; never unset
	err    error // of its latest update; nil when it has sent nothing
}

func newPodStorage(mode PodConfigNotificationMode, rules validation.Rules, updates chan api.PodUpdate) *podStorage {
	return &podStorage{
		mode:    mode,
		rules:   rules,
		updates: updates,
		sources: map[string]*sourceState{},
	}
}

// declare makes a source count as configured, and so as silent until it speaks.
func (s *podStorage) declare(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sources[source] == nil {
		s.sources[source] = &sourceState{pods: podSet{}}
	}
}

// Merge takes in what a source sends and tells of what changed by it. It returns
// once that has been received, or ctx is done.
//
// The error names the pods that were refused. The update's own Err is not part
// of it, since the source has logged that.
func (s *podStorage) Merge(ctx context.Context, source string, update api.PodUpdate) error {
	s.declare(source)
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sources[source]
	pods, refused := mergePods(state.pods, source, update, s.rules)
	if pods == nil { // the operation is unknown: as if nothing had been sent
		return refused
	}
	before, old := s.silent(), state.pods
	state.pods = pods
	state.err = errors.Join(update.Err, refused)
	state.spoken = state.spoken || state.err == nil

	news := s.inMode(compare(old, pods))
	if len(news) == 0 && !maps.EqualFunc(before, s.silent(), sameText) {
		news = append(news, s.set())
	}
	// Only the last update may say that a source has spoken. An UPDATE that said so
	// ahead of the SET with the source's other pods would, for a moment, have a
	// receiver take those for unwanted.
	for i := range len(news) - 1 {
		news[i].Unsynced = maps.Clone(before)
	}
	s.send(ctx, news)
	return refused
}

// inMode says a change in the words of the mode.
func (s *podStorage) inMode(added, updated, removed podSet) []api.PodUpdate {
	var news []api.PodUpdate
	tell := func(op api.PodOperation, pods podSet) {
		if len(pods) > 0 {
			news = append(news, api.PodUpdate{Op: op, Pods: copySorted(pods), Unsynced: s.silent()})
		}
	}
	snapshot := len(added)+len(removed) > 0
	switch s.mode {
	case PodConfigNotificationSnapshot:
		snapshot = snapshot || len(updated) > 0
	case PodConfigNotificationSnapshotAndUpdates:
		tell(api.UPDATE, updated)
	case PodConfigNotificationIncremental:
		tell(api.REMOVE, removed)
		tell(api.ADD, added)
		tell(api.UPDATE, updated)
		snapshot = false
	}
	if snapshot {
		news = append(news, s.set())
	}
	return news
}

// Sync sends a SET of all pods.
func (s *podStorage) Sync(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(ctx, []api.PodUpdate{s.set()})
}

// send hands the updates over, in order.
func (s *podStorage) send(ctx context.Context, news []api.PodUpdate) {
	for _, update := range news {
		select {
		case s.updates <- update:
		case <-ctx.Done():
			return
		}
	}
}

// MergedState returns copies of all pods, sorted by full name.
func (s *podStorage) MergedState() []api.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set().Pods
}

// set is a SET of all pods.
func (s *podStorage) set() api.PodUpdate {
	pods := podSet{}
	for _, state := range s.sources {
		maps.Copy(pods, state.pods)
	}
	return api.PodUpdate{Op: api.SET, Pods: copySorted(pods), Unsynced: s.silent()}
}

// silent is every source that has not spoken, with its latest error.
func (s *podStorage) silent() map[string]error {
	silent := map[string]error{}
	for name, state := range s.sources {
		if !state.spoken {
			silent[name] = state.err
		}
	}
	return silent
}

// copySorted copies pods deeply. The same pods always make the same list.
func copySorted(pods podSet) []api.Pod {
	copies := make([]api.Pod, 0, len(pods))
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := *pods[name]
		pod.Manifest = pod.Manifest.Clone()
		copies = append(copies, pod)
	}
	return copies
}

func sameText(a, b error) bool {
	return fmt.Sprint(a) == fmt.Sprint(b)
}
