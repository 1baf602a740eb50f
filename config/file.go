package config

import (
	"context"
	"path/filepath"
	"time"

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
//
// The truth is what a read finds at every checkEvery. Events of the file system
// are hints to read now, so that an edit need not wait, and may fail.
type SourceFile struct {
	path       string // absolute
	hostname   string
	checkEvery time.Duration
	parse      func(file string, data []byte) ([]api.ContainerManifest, error)
	now        func() time.Time

	// What the last read found; see read.
	kind    pathKind                 // what path was when it was last read well
	pathErr error                    // why nothing could be read; the files are as they were
	files   map[string]*manifestFile // by path
	passed  map[string]string        // names in the directory that do not count, and why

	// What has been said of it; see report.
	logged    map[string]string // problems by what they are about
	holdSince time.Time         // when the first unsettled file held back an update; zero: none does
	offered   *api.PodUpdate    // the latest update meant for the receiver; nil at first
	spoken    bool              // the receiver has had one without an error
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
	defer timer.Stop()
	var unsent *api.PodUpdate
	for {
		var to chan<- api.PodUpdate // nil, which nobody receives from, while there is nothing to send
		var update api.PodUpdate
		if unsent != nil {
			to, update = updates, *unsent
		}
		select {
		case <-ctx.Done():
			return
		case to <- update:
			s.sent(update)
			unsent = nil
		case event := <-watch.events():
			if at := time.Now().Add(hintDelay); watch.concerns(event) && at.Before(next) {
				next = at
				timer.Reset(hintDelay)
			}
		case err := <-watch.failures():
			watch.failed(err)
			next = time.Now()
			timer.Reset(0)
		case <-timer.C:
			watch.follow() // before the read, so that no change falls between them
			s.read()
			if news := s.report(); news != nil {
				unsent = news
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
		if at, unsettled := f.settles(); unsettled && at.Before(next) {
			next = at
		}
	}
	return next
}
