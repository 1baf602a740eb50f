package config

import (
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
	lastGood  []object
	version   string // of the text of lastGood; it changes with the text
	err       error  // why the latest text cannot be read or parsed
	duplicate error  // which objects do not count beside those of other inputs
	logged    error  // the problem that was logged last
}

// load parses a text that is new or was bad. A bad one leaves the last good objects.
func (in *input) load(version string, parse func() ([]object, error)) {
	if in.err == nil && in.version == version {
		return
	}
	objects, err := parse()
	if in.err = err; err == nil {
		in.version, in.lastGood = version, objects
	}
}

// source is what the three sources have in common: it sends the pods of the inputs,
// logs each problem once and keeps the status.
type source struct {
	title  string // in the log
	place  string // a path, a URL or keys at servers
	parser Parser

	pollInterval, noPodsWait time.Duration // noPodsWait is for doubt

	inputs map[string]*input   // files or keys by place; "" is the source as a whole
	owners map[objectID]string // the place of the input that has the name
	sent   api.PodUpdate       // the zero value at first

	mu     sync.Mutex
	status api.SourceStatus
}

func newSource(title, name, place string, pollInterval time.Duration, parser Parser) source {
	if parser.Watcher == nil {
		parser.Watcher = noWatcher{}
	}
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
	update := s.set(inputs)
	var errs []error
	stale := map[string]string{}
	for _, in := range inputs {
		err, effect := errors.Join(in.err, in.duplicate), ""
		if in.err != nil {
			text := in.err.Error() // once, for any number of pods
			for _, pod := range update.Pods {
				if in.place == s.place || in.place == s.owners[podID(&pod)] {
					stale[pod.FullName()], effect = text, "pods stay as they were: "
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
	unchanged := reflect.DeepEqual(update.Pods, s.sent.Pods) && reflect.DeepEqual(update.Services, s.sent.Services) &&
		reflect.DeepEqual(update.NoPods, s.sent.NoPods)
	if unchanged && s.sent.Op == api.SET && sameText(update.Err, s.sent.Err) {
		return wait
	}
	logIgnored(s.sent.Pods, update.Pods)
	problem := update.Err
	if sameText(problem, s.sent.Err) {
		problem = nil
	}
	s.parser.Watcher.SourceSends(s.status.Source, update, problem)
	s.sent = update
	select {
	case updates <- update:
	case <-ctx.Done():
	}
	return wait
}

// set returns a SET of what the inputs have.
func (s *source) set(inputs []*input) api.PodUpdate {
	pods, services := byKind(s.rejectDuplicates(inputs))
	return api.PodUpdate{Op: api.SET, Pods: pods, Services: s.checkServices(services, pods)}
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
