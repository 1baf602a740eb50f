package config

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"kubelet14/api"
)

// podSet is pods by full name. No pod in it is ever changed, so a pod is the same in
// two sets if the pointer is.
type podSet map[string]*api.Pod

// compare returns the difference between two sets.
func compare(before, after podSet) (added, updated, removed podSet) {
	added, updated, removed = maps.Clone(after), maps.Clone(after), maps.Clone(before)
	maps.DeleteFunc(added, func(name string, _ *api.Pod) bool { return before[name] != nil })
	maps.DeleteFunc(updated, func(name string, pod *api.Pod) bool { return before[name] == nil || before[name] == pod })
	maps.DeleteFunc(removed, func(name string, _ *api.Pod) bool { return after[name] != nil })
	return added, updated, removed
}

// names returns the full names of all pods of sets that have none in common, sorted.
func names(sets ...podSet) (names []string) {
	for _, set := range sets {
		names = slices.AppendSeq(names, maps.Keys(set))
	}
	slices.Sort(names)
	return names
}

// podStorage has the pods of every source and sends every change of them. What it
// sends is a deep copy, so a receiver may write to it.
type podStorage struct {
	mode    PodConfigNotificationMode
	updates chan api.PodUpdate // never closed
	Watcher Watcher            // not nil

	// mu is held until the last update about a change was received, which keeps the
	// updates in order. So the receiver must not call what locks it.
	mu      sync.Mutex
	sources map[string]*sourceState
}

// sourceState is what is known of one source.
type sourceState struct {
	pods     podSet
	services []api.Service
	configs  []*api.ConfigObject
	synced   bool  // has sent an update without an error; never unset
	err      error // of its latest update
	noPods   *api.NoPodsError
}

func newPodStorage(mode PodConfigNotificationMode, updates chan api.PodUpdate) *podStorage {
	return &podStorage{mode: mode, updates: updates, Watcher: noWatcher{}, sources: map[string]*sourceState{}}
}

// declare adds a source, which is not synced until it sends an update without an error.
func (s *podStorage) declare(source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sources[source] == nil {
		s.sources[source] = &sourceState{pods: podSet{}}
	}
}

// Merge stores the pods that a source sends and sends what has changed, in the form of
// the mode. It returns once that was received, or ctx is done.
func (s *podStorage) Merge(ctx context.Context, source string, update api.PodUpdate) {
	s.Watcher.MuxTakes(source, update)
	s.declare(source)
	s.mu.Lock()
	defer s.mu.Unlock()
	state, before := s.sources[source], s.unsynced()
	newConfigs := update.Op == api.SET && !reflect.DeepEqual(state.configs, update.Configs)
	if update.Op == api.SET {
		state.services, state.configs = update.Services, update.Configs
	}
	pods := mergePods(state.pods, source, update, state.services)
	added, updated, removed := compare(state.pods, pods)
	s.Watcher.Merges(source, len(pods), names(added, updated, removed))
	state.pods, state.err, state.noPods = pods, update.Err, update.NoPods
	state.synced = state.synced || state.err == nil

	// Only the last of the changes may say that the source is synced now. If an UPDATE said
	// so, the receiver would remove the pods that only the SET after it names.
	var changes []api.PodUpdate
	add := func(op api.PodOperation, pods podSet) {
		if len(pods) > 0 {
			changes = append(changes, api.PodUpdate{Op: op, Pods: copySorted(pods), Unsynced: maps.Clone(before)})
		}
	}
	all := len(added)+len(removed) > 0
	switch s.mode {
	case PodConfigNotificationSnapshot:
		all = all || len(updated) > 0
	case PodConfigNotificationSnapshotAndUpdates:
		add(api.UPDATE, updated)
	case PodConfigNotificationIncremental:
		add(api.REMOVE, removed)
		add(api.ADD, added)
		add(api.UPDATE, updated)
		all = false
	}
	unsynced := s.unsynced()
	switch n := len(changes); {
	case all || n == 0 && (newConfigs || !maps.EqualFunc(before, unsynced, sameText)):
		changes = append(changes, s.set())
	case n > 0:
		changes[n-1].Unsynced = unsynced
	}
	s.send(ctx, changes...)
}

// mergePods returns the pods of a source after an update, each with the services of its namespace. The source has validated all.
func mergePods(old podSet, source string, update api.PodUpdate, services []api.Service) podSet {
	pods := podSet{}
	if update.Op != api.SET {
		pods = maps.Clone(old)
	}
	for _, pod := range update.Pods {
		pod.Source = source
		addServices(&pod, services)
		name := pod.FullName()
		switch known := old[name]; {
		case update.Op == api.REMOVE:
			delete(pods, name)
		case known != nil && reflect.DeepEqual(known, &pod):
			pods[name] = known
		default:
			pods[name] = &pod
		}
	}
	return pods
}

func (s *podStorage) send(ctx context.Context, updates ...api.PodUpdate) {
	for _, update := range updates {
		update.Configs = s.configs()
		s.Watcher.SendsUpdate(update)
		select {
		case s.updates <- update:
		case <-ctx.Done():
			return
		}
	}
}

// Sync sends a SET of all pods, changed or not. It returns once that was received, or
// ctx is done.
func (s *podStorage) Sync(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(ctx, s.set())
}

// MergedState returns copies of all pods, sorted by full name.
func (s *podStorage) MergedState() []api.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set().Pods
}

func (s *podStorage) set() api.PodUpdate {
	pods := podSet{}
	for _, state := range s.sources {
		maps.Copy(pods, state.pods)
	}
	return api.PodUpdate{Op: api.SET, Pods: copySorted(pods), Unsynced: s.unsynced()}
}

// configs returns those of all sources.
func (s *podStorage) configs() (all []*api.ConfigObject) {
	for _, name := range slices.Sorted(maps.Keys(s.sources)) {
		all = append(all, s.sources[name].configs...)
	}
	return all
}

// unsynced returns every source that is not synced, with its latest error, or that is not
// believed to want no pods.
func (s *podStorage) unsynced() map[string]error {
	unsynced := map[string]error{}
	for name, state := range s.sources {
		if !state.synced {
			unsynced[name] = state.err
		} else if state.noPods != nil {
			unsynced[name] = state.noPods
		}
	}
	return unsynced
}

// copySorted returns deep copies of pods, sorted by full name.
func copySorted(pods podSet) []api.Pod {
	copies := make([]api.Pod, 0, len(pods))
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := *pods[name]
		pod.Manifest = pod.Manifest.Clone()
		copies = append(copies, pod)
	}
	return copies
}
