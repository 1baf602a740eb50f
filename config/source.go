package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
// etcd key. It is good or bad as a whole.
type input struct {
	place     string // the label of a path, a URL or a key
	lastGood  []api.Pod
	version   string // of the text of lastGood; it changes with the text
	err       error  // why the latest text cannot be read or parsed
	duplicate error  // which pod names belong to other inputs
	logged    error  // the problem that was logged last
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

// source is what the three sources have in common: it sends the pods of the inputs,
// logs each problem once and keeps the status.
type source struct {
	title  string // in the log
	place  string // a path, a URL or keys at servers
	parser Parser

	pollInterval, noPodsWait time.Duration // noPodsWait is for doubt

	inputs map[string]*input // files or keys by place; "" is the source as a whole
	owners map[string]string // by full name: the place of the input that has it
	sent   api.PodUpdate     // the zero value at first

	mu     sync.Mutex
	status api.SourceStatus
}

func newSource(title, name, place string, pollInterval time.Duration, parser Parser) source {
	return source{
		title: title, place: place, pollInterval: pollInterval, noPodsWait: NoPodsWait(pollInterval), parser: parser,
		inputs: map[string]*input{"": {place: place}},
		status: api.SourceStatus{Source: name, Place: place},
	}
}

// input returns the input of a place, a new one if there is none.
func (s *source) input(place string) *input {
	if s.inputs[place] == nil {
		s.inputs[place] = &input{place: label(place)}
	}
	return s.inputs[place]
}

// forget removes the inputs that are gone, other than the source as a whole.
func (s *source) forget(gone func(place string) bool) {
	maps.DeleteFunc(s.inputs, func(place string, in *input) bool {
		remove := place != "" && gone(place)
		if remove && in.logged != nil {
			glog.Infof("%s: %s is gone", s.title, in.place)
		}
		return remove
	})
}

// sortedInputs returns all inputs in the order of their places.
func (s *source) sortedInputs() (inputs []*input) {
	for _, place := range slices.Sorted(maps.Keys(s.inputs)) {
		inputs = append(inputs, s.inputs[place])
	}
	return inputs
}

func (s *source) Status() api.SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// publish sends the pods of all inputs if they or the errors have changed, and returns the time
// to the next poll.
func (s *source) publish(ctx context.Context, updates chan<- api.PodUpdate) (wait time.Duration) {
	inputs := s.sortedInputs()
	update := api.PodUpdate{Op: api.SET, Pods: s.withServices(s.rejectDuplicates(inputs))}
	var errs []error
	stale := map[string]string{}
	for _, in := range inputs {
		err, effect := errors.Join(in.err, in.duplicate), ""
		if in.err != nil {
			text := in.err.Error() // once, for any number of pods
			for _, pod := range update.Pods {
				if name := pod.FullName(); in.place == s.place || in.place == s.owners[name] {
					stale[name], effect = text, "pods stay as they were: "
				}
			}
		}
		switch {
		case sameText(err, in.logged):
		case err == nil:
			glog.Infof("%s: %s is read again", s.title, in.place)
		default:
			glog.Errorf("%s: %s%s", s.title, effect, api.WithExcerpts(err))
		}
		in.logged = err
		errs = append(errs, err)
	}
	update.Err = errors.Join(errs...)
	s.setStatus(len(update.Pods), stale, update.Err)
	update.NoPods, wait = s.doubt(len(update.Pods), update.Err)
	unchanged := reflect.DeepEqual(update.Pods, s.sent.Pods) && reflect.DeepEqual(update.NoPods, s.sent.NoPods)
	if unchanged && s.sent.Op == api.SET && sameText(update.Err, s.sent.Err) {
		return wait
	}
	logIgnored(s.sent.Pods, update.Pods)
	s.traceSend(s.sent, update)
	s.sent = update
	select {
	case updates <- update:
	case <-ctx.Done():
	}
	return wait
}

// rejectDuplicates returns the pods of the inputs, each name once: that of the owner, which had
// the name first, if it still has it, else that of the only input that has it, else none.
func (s *source) rejectDuplicates(inputs []*input) (pods []api.Pod) {
	places, owners := map[string][]string{}, map[string]string{} // by full name
	for _, in := range inputs {
		for _, pod := range in.lastGood {
			places[pod.FullName()] = append(places[pod.FullName()], in.place)
		}
	}
	for name, places := range places {
		if owner := s.owners[name]; slices.Contains(places, owner) {
			owners[name] = owner
		} else if len(places) == 1 {
			owners[name] = places[0]
		}
	}
	for _, in := range inputs {
		var duplicates []error
		for _, pod := range in.lastGood {
			owner, used := owners[pod.FullName()], "none"
			if owner != "" {
				used = "that of " + owner
			}
			switch first := cmp.Or(owner, places[pod.FullName()][0]); in.place {
			case owner:
				pods = append(pods, pod)
			case first: // the error of the others names it
			default:
				duplicates = append(duplicates, fmt.Errorf("%s %q is in %s and %s: keep one of them; until then %s is used",
					cmp.Or(pod.Manifest.Services.Kind, "pod"), pod.Name, first, in.place, used))
			}
		}
		in.duplicate = errors.Join(duplicates[:min(len(duplicates), api.MaxProblems)]...)
	}
	s.owners = owners
	return pods
}

// setStatus records the result of a read.
func (s *source) setStatus(pods int, stale map[string]string, err error) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Pods, s.status.Stale = pods, stale
	if err == nil {
		s.status.LastSuccess, s.status.FailingSince = now, time.Time{}
		return
	}
	s.status.LastError, s.status.LastErrorAt = err.Error(), now
	if s.status.FailingSince.IsZero() {
		s.status.FailingSince = now
	}
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
