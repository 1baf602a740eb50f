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
	label       string // its place for people
	lastGood    []object
	fingerprint string  // of the text of lastGood; it changes with the text
	err         error   // why the latest text cannot be read or parsed
	duplicate   error   // which objects do not count beside those of other inputs
	logged      error   // the problem that was logged last
	configs     *amount // of all inputs of the source
}

// problem returns all that is wrong with an input.
func (in *input) problem() error { return errors.Join(in.err, in.duplicate) }

// load parses a text that is new or was bad. A bad one leaves the last good objects.
func (in *input) load(fingerprint string, parse func() ([]object, error)) {
	if in.err == nil && in.fingerprint == fingerprint {
		return
	}
	objects, err := parse()
	if err == nil {
		err = in.admit(objects)
	}
	if in.err = err; err == nil {
		in.fingerprint, in.lastGood = fingerprint, objects
	}
}

// source is what the three sources have in common: it sends the pods of the inputs,
// logs each problem once and keeps the status.
type source struct {
	title  string // in the log
	place  string // a path, a URL or keys at servers
	parser Parser

	pollInterval, noPodsWait time.Duration // noPodsWait is for doubt

	ignored map[string]bool // lines that are logged
	configs *amount         // of all inputs

	inputs map[string]*input   // files or keys by place; "" is the source as a whole
	owners map[objectID]*input // the input that has the name
	sent   api.PodUpdate       // the zero value at first

	mu     sync.Mutex
	status api.SourceStatus
}

func newSource(title, name, place string, pollInterval time.Duration, parser Parser) source {
	if parser.Watcher == nil {
		parser.Watcher = noWatcher{}
	}
	configs := &amount{}
	return source{
		title: title, place: place, pollInterval: pollInterval, noPodsWait: NoPodsWait(pollInterval), parser: parser,
		configs: configs, inputs: map[string]*input{"": {label: place, configs: configs}},
		status: api.SourceStatus{Source: name, Place: place},
	}
}

// input returns the input of a place, a new one if there is none.
func (s *source) input(place string) *input {
	if s.inputs[place] == nil {
		s.inputs[place] = &input{label: label(place), configs: s.configs}
	}
	return s.inputs[place]
}

// forget removes the inputs that are gone, other than the source as a whole.
func (s *source) forget(gone func(place string) bool) {
	maps.DeleteFunc(s.inputs, func(place string, in *input) bool {
		remove := place != "" && gone(place)
		if remove {
			*s.configs = s.configs.minus(amountOf(in.lastGood))
		}
		if remove && in.logged != nil {
			glog.Infof("%s: %s is gone", s.title, in.label)
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

// publish sends what the inputs have if that or an error has changed, and returns the time
// to the next poll.
func (s *source) publish(ctx context.Context, updates chan<- api.PodUpdate) (wait time.Duration) {
	update, leftOut := s.set()
	s.logProblems(update.Pods)
	s.setStatus(len(update.Pods), s.stale(update.Pods), update.Err)
	update.NoPods, wait = s.doubt(len(update.Pods), update.Err)
	s.logIgnored(update, leftOut)
	if s.isNew(update) {
		s.send(ctx, updates, update)
	}
	return wait
}

// set returns a SET of what the inputs have, with all errors, and what of them is left out.
func (s *source) set() (update api.PodUpdate, leftOut []string) {
	inputs := s.sortedInputs()
	pods, services, configs, leftOut := byKind(s.rejectDuplicates(inputs))
	update = api.PodUpdate{Op: api.SET, Pods: pods, Services: s.checkServices(services, pods), Configs: configs}
	var errs []error
	for _, in := range inputs {
		errs = append(errs, in.problem())
	}
	update.Err = errors.Join(errs...)
	return update, leftOut
}

// isNew reports whether an update differs from the one that was sent last.
func (s *source) isNew(update api.PodUpdate) bool {
	return s.sent.Op != api.SET || !sameText(update.Err, s.sent.Err) || !reflect.DeepEqual(update.NoPods, s.sent.NoPods) ||
		!reflect.DeepEqual(update.Pods, s.sent.Pods) || !reflect.DeepEqual(update.Services, s.sent.Services) ||
		!reflect.DeepEqual(update.Configs, s.sent.Configs)
}

// send sends an update. It gives up when ctx is done.
func (s *source) send(ctx context.Context, updates chan<- api.PodUpdate, update api.PodUpdate) {
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
}

func sameText(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
