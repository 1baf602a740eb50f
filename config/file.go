package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/validation"
)

const (
	// settleTime is how long a file must have been left alone before it counts, and
	// how long it must be missing before it is gone. Whoever writes a file, or
	// replaces one by removing it first, is done by then.
	settleTime = 50 * time.Millisecond
	// hintDelay lets the many events of one edit lead to one read.
	hintDelay = 10 * time.Millisecond
	// maxHold is how long a file that is written without a pause can hold back what
	// the source says for the first time.
	maxHold = time.Second
)

// SourceFile is the source named "file": the manifests of one file or of one
// directory.
type SourceFile struct {
	path       string // absolute
	hostname   string
	checkEvery time.Duration
	parse      func(file string, data []byte) ([]api.ContainerManifest, error)
	now        func() time.Time

	// What the last read found; see read.
	kind    string                   // what path was when it was last read well
	pathErr error                    // why nothing could be read; the files are as they were
	files   map[string]*manifestFile // by path
	passed  map[string]string        // names in the directory that do not count, and why

	// What has been said of it; see report.
	logged    error          // the latest pathErr that was logged
	holdSince time.Time      // when the first fresh file held back an update; zero: none does
	offered   *api.PodUpdate // the latest update meant for the receiver; nil at first
	spoken    bool           // the receiver has had one without an error
}

// NewSourceFile returns the source for path, which is made absolute. The
// hostname goes into the UIDs of pods without a uuid; checkEvery must be more
// than 0.
func NewSourceFile(path, hostname string, checkEvery time.Duration, scheme *api.Scheme, rules validation.Rules) *SourceFile {
	if abs, err := filepath.Abs(path); err == nil { // it fails without a working directory alone
		path = abs
	}
	return &SourceFile{
		path:       path,
		hostname:   hostname,
		checkEvery: checkEvery,
		parse: func(file string, data []byte) ([]api.ContainerManifest, error) {
			return parseManifests(scheme, rules, file, data)
		},
		now:   time.Now,
		files: map[string]*manifestFile{},
	}
}

// Run sends a SET of all pods, and another one after every change of the pods or
// of the error, until ctx is done. While nobody receives it goes on reading, and
// sends the latest only.
func (s *SourceFile) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	watch := newPathWatch(s.path)
	defer watch.close()

	next := time.Now()
	timer := time.NewTimer(0)
	var update api.PodUpdate
	var to chan<- api.PodUpdate // nil, which nobody receives from, while there is nothing to send
	for {
		select {
		case <-ctx.Done():
			return
		case to <- update:
			s.sent(update)
			to = nil
		case event := <-watch.events:
			if at := time.Now().Add(hintDelay); watch.concerns(event) && at.Before(next) {
				next = at
				timer.Reset(hintDelay)
			}
		case err := <-watch.failures:
			watch.note(err)
			next = time.Now()
			timer.Reset(0)
		case <-timer.C:
			watch.follow() // before the read, so that no change falls between them
			s.read()
			if news := s.report(); news != nil {
				update, to = *news, updates
			}
			next = s.nextRead()
			timer.Reset(time.Until(next))
		}
	}
}

// nextRead is when to read again, when no hint comes before.
func (s *SourceFile) nextRead() time.Time {
	next := s.now().Add(s.checkEvery)
	for _, f := range s.files {
		if !f.settlesAt.IsZero() && f.settlesAt.Before(next) {
			next = f.settlesAt
		}
	}
	return next
}

// report logs what is new in what the last read found, and returns the update
// that says it, or nil when the receiver has been told.
//
// Until the receiver has had an update without an error, a file that is too
// fresh to be read holds the update back: without the file it would say that
// nothing is wanted but what is in it, and the containers of the file's pods
// would go.
func (s *SourceFile) report() *api.PodUpdate {
	files := s.sortedFiles()
	incomplete := !s.spoken && slices.ContainsFunc(files, (*manifestFile).fresh)
	switch now := s.now(); {
	case !incomplete:
		s.holdSince = time.Time{}
	case s.holdSince.IsZero():
		s.holdSince = now
		return nil
	case now.Sub(s.holdSince) < maxHold:
		return nil
	}

	logChange(&s.logged, "-config "+s.path, s.pathErr, "all pods stay as they were")
	update := api.PodUpdate{Op: api.SET}
	errs := []error{s.pathErr}
	for _, f := range files {
		update.Pods = append(update.Pods, f.held...)
		err := f.err
		if incomplete && f.fresh() {
			err = fmt.Errorf("read %q: it is written to all the time, and is read once it is left alone for %v", f.path, settleTime)
		}
		errs = append(errs, err)
		effect := "the pods of " + f.path + " stay as they were"
		if len(f.held) == 0 {
			effect = f.path + " gives no pods"
		}
		logChange(&f.logged, f.path, err, effect)
	}
	update.Err = errors.Join(errs...)
	if s.offered != nil && sameText(update.Err, s.offered.Err) && reflect.DeepEqual(update.Pods, s.offered.Pods) {
		return nil
	}
	s.offered = &update
	return &update
}

// sent notes that the receiver has the update.
func (s *SourceFile) sent(update api.PodUpdate) {
	s.spoken = s.spoken || update.Err == nil
	glog.V(4).Infof("File source: sent %d pods, error: %v", len(update.Pods), update.Err)
}

// logChange logs an error about a path, and what comes of it, when it appears or
// changes, and once more when it is mended.
func logChange(logged *error, about string, err error, effect string) {
	switch {
	case sameText(err, *logged):
	case err == nil:
		glog.Infof("File source: %s is read again", about)
	default:
		glog.Errorf("File source: %s: %v", effect, err)
	}
	*logged = err
}
