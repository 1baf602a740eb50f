package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// Source is a place that pods come from.
type Source interface {
	// Run sends a SET of all pods, also when there are none, and another one after
	// every change of the pods or of the error, until ctx is done. It is called once.
	Run(ctx context.Context, updates chan<- api.PodUpdate)
	// Status may be called by any goroutine at any time.
	Status() api.SourceStatus
}

// input is one text that a source reads: a file, a response body or the value of an
// etcd key. It is good or bad as a whole. An input without pods stands for the
// directory or the list of keys.
type input struct {
	place     string // a path, a URL or a key
	lastGood  []api.Pod
	version   string // of the text that lastGood was parsed from; it changes with the text
	err       error  // why the latest text cannot be read or parsed
	duplicate error  // which names are in another input too
}

// load parses a text that is new or was bad. A bad one leaves the last good pods.
func (in *input) load(version string, parse func() ([]api.Pod, error)) {
	if in.err == nil && in.version == version {
		return
	}
	pods, err := parse()
	if in.err = err; err == nil {
		in.version, in.lastGood = version, pods
	}
}

// source is what the three sources have in common. It sends the pods of inputs,
// logs each problem once and keeps the status.
type source struct {
	title, name, place string

	owners map[string]*input // by pod name: the input whose pod was sent last
	logged map[*input]error  // the problem that was logged last
	sent   *api.PodUpdate    // nil at first

	mu     sync.Mutex
	status api.SourceStatus
}

// Status implements Source.
func (s *source) Status() api.SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Source, status.Place = s.name, s.place
	return status
}

// publish sends the pods of the inputs if they or the errors have changed.
func (s *source) publish(ctx context.Context, updates chan<- api.PodUpdate, inputs ...*input) {
	pods := s.rejectDuplicates(inputs)
	var errs []error
	logged := map[*input]error{}
	for _, in := range inputs {
		err := errors.Join(in.err, in.duplicate)
		if err != nil && !sameText(err, s.logged[in]) {
			glog.Errorf("%s: pods stay as they were: %s", s.title, api.WithExcerpts(err))
		} else if err == nil && s.logged[in] != nil {
			glog.Infof("%s: %s is read again", s.title, in.place)
		}
		logged[in] = err
		errs = append(errs, err)
	}
	s.logged = logged
	update := api.PodUpdate{Op: api.SET, Pods: pods, Err: errors.Join(errs...)}
	s.setStatus(time.Now(), len(pods), update.Err)
	if s.sent != nil && sameText(update.Err, s.sent.Err) && reflect.DeepEqual(update.Pods, s.sent.Pods) {
		return
	}
	s.sent = &update
	select {
	case updates <- update:
	case <-ctx.Done():
	}
}

// rejectDuplicates returns the pods of the inputs, each name once. The owner of a name,
// which had it first, keeps it; a name that several inputs have and none owns is given
// to none.
func (s *source) rejectDuplicates(inputs []*input) (pods []api.Pod) {
	candidates := map[string][]*input{} // by pod name
	for _, in := range inputs {
		in.duplicate = nil
		for i := range in.lastGood {
			name := in.lastGood[i].Name
			candidates[name] = append(candidates[name], in)
		}
	}
	owners := map[string]*input{}
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		all, owner, used := candidates[name], s.owners[name], "none"
		if len(all) == 1 {
			owners[name] = all[0]
			continue
		}
		if slices.Contains(all, owner) {
			owners[name], used = owner, "that of "+owner.place
		}
		var places []string
		for _, in := range all {
			places = append(places, in.place)
		}
		loser := all[0]
		if loser == owner {
			loser = all[1]
		}
		loser.duplicate = errors.Join(loser.duplicate, fmt.Errorf("pod %q is in %s: keep one of them; until then %s is used",
			name, strings.Join(places, " and "), used))
	}
	for _, in := range inputs {
		for _, pod := range in.lastGood {
			if owners[pod.Name] == in {
				pods = append(pods, pod)
			}
		}
	}
	s.owners = owners
	return pods
}

// setStatus records the result of a read.
func (s *source) setStatus(now time.Time, pods int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Pods = pods
	if err == nil {
		s.status.LastSuccess, s.status.FailingSince = now, time.Time{}
		return
	}
	s.status.LastError, s.status.LastErrorAt = err.Error(), now
	if s.status.FailingSince.IsZero() {
		s.status.FailingSince = now
	}
}

// sorted returns inputs in the order of their places.
func sorted(byPlace map[string]*input) []*input {
	return slices.SortedFunc(maps.Values(byPlace), func(a, b *input) int { return strings.Compare(a.place, b.place) })
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
