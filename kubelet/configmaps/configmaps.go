// Package configmaps has the ConfigMaps and Secrets of all sources, and makes of them the variables and files of containers.
//
//	updates ─▶ Update ─▶ Store ◀─┬─ worker: Variables, CreateVolume
//	                       │     └─ status: Stale
//	                       └─▶ Run: files of volumes that exist, after a change
//
// An object that is missing is a problem of the container that needs it. A value is in no error and in no log.
package configmaps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// Store has the objects. Its methods may be called concurrently.
type Store struct {
	volumes *volume.RootDir
	sources func() []api.SourceStatus
	note    func(podFullName, container, reason, message string)
	logOnce func(topic string, err error)

	writing sync.Mutex    // held while the files of a volume are made
	changed chan struct{} // 1-slot: there may be files to change

	mu      sync.Mutex
	objects map[id][]*api.ConfigObject // guarded by mu; one of each source that has it
	all     []*api.ConfigObject        // guarded by mu; in the order of the update
	pods    map[string]*plan.Pod       // guarded by mu; by full name
	edits   int                        // guarded by mu; grows with each change of an object

	// What the last refresh has looked at; guarded by mu.
	lookedPods    map[string]*plan.Pod
	lookedObjects map[id][]*api.ConfigObject
}

// id names the objects that one reference may mean.
type id struct{ kind, namespace, name string }

// NewStore returns a Store without objects. The sources are named in problems; note records an event, and logOnce logs an error when it
// appears or changes.
func NewStore(volumes *volume.RootDir, sources func() []api.SourceStatus, note func(podFullName, container, reason, message string),
	logOnce func(topic string, err error)) *Store {
	return &Store{volumes: volumes, sources: sources, note: note, logOnce: logOnce, changed: make(chan struct{}, 1)}
}

// Update replaces all objects and pods. None of them is ever changed.
func (s *Store) Update(objects []*api.ConfigObject, pods map[string]*plan.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := slices.Equal(s.all, objects)
	if same && maps.Equal(s.pods, pods) {
		return
	}
	s.pods = maps.Clone(pods)
	if !same {
		s.edits++
		s.all, s.objects = objects, map[id][]*api.ConfigObject{}
		for _, o := range objects {
			name := id{o.Kind, o.Namespace, o.Name}
			s.objects[name] = append(s.objects[name], o)
		}
	}
	s.look()
}

// look asks Run to look at all files.
func (s *Store) look() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Edits returns a number that grows with each change of an object.
func (s *Store) Edits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits
}

// find returns the object that a pod means: that of its own source, else the only one. It returns nil for one that is missing and
// optional. The key, which may be empty, is what the pod needs of it.
func (s *Store) find(pod *plan.Pod, ref api.ConfigRef, key string) (*api.ConfigObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.objects[id{ref.Kind, pod.Namespace, ref.Name}]
	own := slices.IndexFunc(found, func(o *api.ConfigObject) bool { return o.Source == pod.Source })
	switch {
	case own >= 0:
		return found[own], nil
	case len(found) > 1:
		return nil, problem("%s %q of namespace %q is in %s and %s: keep one of them", ref.Kind, ref.Name, pod.Namespace, found[0].Origin, found[1].Origin)
	case len(found) == 1:
		return found[0], nil
	case ref.Optional:
		return nil, nil
	}
	what := fmt.Sprintf("%s %q", ref.Kind, ref.Name)
	if key != "" {
		what += fmt.Sprintf(" with the key %q", key)
	}
	return nil, problem("there is no %s in namespace %q; read: %s", what, pod.Namespace, s.places())
}

// value returns a value that a pod means. It is nil if that is missing and optional.
func (s *Store) value(pod *plan.Pod, ref api.ConfigRef, key string) ([]byte, error) {
	o, err := s.find(pod, ref, key)
	if o == nil {
		return nil, err
	}
	value, ok := o.Data[key]
	if !ok && !ref.Optional {
		return nil, problem("there is no key %q in %v", key, o)
	}
	return value, nil
}

// places names what was read.
func (s *Store) places() string {
	var places []string
	for _, source := range s.sources() {
		place := fmt.Sprintf("%s (%s)", source.Source, source.Place)
		switch {
		case !source.FailingSince.IsZero():
			place += ", which has errors"
		case source.LastSuccess.IsZero():
			place += ", not yet read to the end"
		}
		places = append(places, place)
	}
	return strings.Join(places, "; ")
}

// problem returns why a container cannot be created.
func problem(format string, args ...any) error {
	return plan.Problem{Reason: api.ReasonConfig, Message: fmt.Sprintf(format, args...)}
}
