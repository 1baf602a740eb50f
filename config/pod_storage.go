package config

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// podStorage holds what every source wants, and tells of every change.
//
// The pods it holds are never changed: an update puts new ones in their place.
// What it sends is a deep copy, so a receiver that writes harms nobody.
type podStorage struct {
	mode  PodConfigNotificationMode
	rules validation.Rules

	// sending is held from the look at the old state until the last update about
	// the new one has been received: that is what keeps updates in order.
	sending sync.Mutex
	updates chan<- api.PodUpdate

	mu      sync.Mutex // taken after sending, and never held over a send
	sources map[string]*sourceState
	told    map[string]error // the silent sources, as far as the receiver knows
}

// sourceState is what is known of one source.
type sourceState struct {
	pods   podSet
	spoken bool  // has sent one update without an error since start; never unset
	err    error // of its latest update; nil when it has sent nothing
}

func newPodStorage(mode PodConfigNotificationMode, rules validation.Rules, updates chan<- api.PodUpdate) *podStorage {
	return &podStorage{
		mode:    mode,
		rules:   rules,
		updates: updates,
		sources: map[string]*sourceState{},
		told:    map[string]error{},
	}
}

// declare makes a source count as configured, and so as silent until it speaks.
func (s *podStorage) declare(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateOf(source)
}

// stateOf declares the source when it is new. s.mu is held.
func (s *podStorage) stateOf(source string) *sourceState {
	state, ok := s.sources[source]
	if !ok {
		state = &sourceState{pods: podSet{}}
		s.sources[source] = state
		s.told[source] = nil
	}
	return state
}

// Merge takes in what a source sends and tells of what changed by it. It returns
// once that has been received, or ctx is done.
//
// The error names the pods that were refused. The update's own Err is not part
// of it, since the source has logged that.
func (s *podStorage) Merge(ctx context.Context, source string, update api.PodUpdate) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	news, err := s.merge(source, update)
	s.send(ctx, news)
	return err
}

func (s *podStorage) merge(source string, update api.PodUpdate) ([]api.PodUpdate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateOf(source)
	pods, refused := mergePods(state.pods, source, update, s.rules)
	if pods == nil { // the operation is unknown: as if nothing had been sent
		return nil, refused
	}
	change := compare(state.pods, pods)
	state.pods = pods
	state.err = errors.Join(update.Err, refused)
	state.spoken = state.spoken || state.err == nil
	return s.newsOf(change), refused
}

// newsOf says a change in the words of the mode. s.mu is held.
//
// Only the last update may say that a source has spoken. An UPDATE that said so
// ahead of the SET with the source's other pods would, for a moment, have a
// receiver take those for unwanted.
func (s *podStorage) newsOf(change podChange) []api.PodUpdate {
	before, after := s.told, s.silent()
	s.told = after
	news := s.inMode(change)
	if len(news) == 0 && !maps.EqualFunc(before, after, sameText) {
		news = s.set()
	}
	for i := range news {
		news[i].Silent = maps.Clone(before)
		if i == len(news)-1 {
			news[i].Silent = maps.Clone(after)
		}
	}
	return news
}

func (s *podStorage) inMode(change podChange) []api.PodUpdate {
	var news []api.PodUpdate
	tell := func(op api.PodOperation, pods []*api.Pod) {
		if len(pods) > 0 {
			news = append(news, api.PodUpdate{Op: op, Pods: copySorted(pods)})
		}
	}
	cameOrWent := len(change.added)+len(change.removed) > 0
	switch s.mode {
	case PodConfigNotificationSnapshot:
		if cameOrWent || len(change.updated) > 0 {
			news = s.set()
		}
	case PodConfigNotificationSnapshotAndUpdates:
		tell(api.UPDATE, change.updated)
		if cameOrWent {
			news = append(news, s.set()...)
		}
	case PodConfigNotificationIncremental:
		tell(api.REMOVE, change.removed)
		tell(api.ADD, change.added)
		tell(api.UPDATE, change.updated)
	}
	return news
}

// Sync sends a SET of all pods.
func (s *podStorage) Sync(ctx context.Context) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	news := s.set()
	s.told = s.silent()
	news[0].Silent = maps.Clone(s.told)
	s.mu.Unlock()
	s.send(ctx, news)
}

// send hands the updates over, in order. s.sending is held.
func (s *podStorage) send(ctx context.Context, news []api.PodUpdate) {
	for _, update := range news {
		select {
		case s.updates <- update:
		case <-ctx.Done():
			return
		}
	}
}

// MergedState returns all pods, sorted by full name. The caller may keep and
// change them.
func (s *podStorage) MergedState() []api.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set()[0].Pods
}

// set is a SET of all pods. s.mu is held.
func (s *podStorage) set() []api.PodUpdate {
	var pods []*api.Pod
	for _, state := range s.sources {
		pods = slices.AppendSeq(pods, maps.Values(state.pods))
	}
	return []api.PodUpdate{{Op: api.SET, Pods: copySorted(pods)}}
}

// silent is every source that has not spoken, with its latest error. s.mu is
// held.
func (s *podStorage) silent() map[string]error {
	silent := map[string]error{}
	for name, state := range s.sources {
		if !state.spoken {
			silent[name] = state.err
		}
	}
	return silent
}

// copySorted copies pods deeply, and sorts them by full name so that the same
// pods always make the same list.
func copySorted(pods []*api.Pod) []api.Pod {
	type named struct {
		fullName string
		pod      *api.Pod
	}
	byName := make([]named, len(pods))
	for i, pod := range pods {
		byName[i] = named{pod.FullName(), pod}
	}
	slices.SortFunc(byName, func(a, b named) int { return strings.Compare(a.fullName, b.fullName) })
	copies := make([]api.Pod, len(pods))
	for i, n := range byName {
		copies[i] = *n.pod
		copies[i].Manifest = n.pod.Manifest.Clone()
	}
	return copies
}

func sameText(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Error() == b.Error()
}
