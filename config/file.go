package config

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
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
	reporter
	path       string // absolute
	checkEvery time.Duration
	podsOf     func(file string, data []byte) ([]api.Pod, error)
	now        func() time.Time

	// What the last read found; see read.
	kind    string                   // what path was when it was last read well
	pathErr error                    // why nothing could be read; the files are as they were
	files   map[string]*manifestFile // by path
	passed  map[string]string        // names in the directory that do not count, and why

	// What has been said of it; see news.
	holdSince time.Time // when the first fresh file held back an update; zero: none does
	spoken    bool      // the receiver has had an update without an error
}

// NewSourceFile returns the source for path, which is made absolute. checkEvery
// must be more than 0.
func NewSourceFile(path string, checkEvery time.Duration, parser Parser) *SourceFile {
	if abs, err := filepath.Abs(path); err == nil { // it fails without a working directory alone
		path = abs
	}
	return &SourceFile{
		reporter:   reporter{title: "File source", source: "file", place: path},
		path:       path,
		checkEvery: checkEvery,
		podsOf:     parser.podsOfFile,
		now:        time.Now,
		files:      map[string]*manifestFile{},
	}
}

// podsOfFile reads the pods of a file: one of each YAML document. A pod without an
// id is named after the file.
func (p Parser) podsOfFile(file string, data []byte) ([]api.Pod, error) {
	docs, err := p.manifests(file, data)
	if err != nil {
		return nil, err
	}
	return p.pods("file", file, docs, func(number int) string {
		if number == 1 {
			return pathHash(file)
		}
		return fmt.Sprintf("%s-%d", pathHash(file), number)
	})
}

// pathHash is the 2014 name of a pod whose manifest has no id: what is left of
// the file's name, cut to 15 letters and digits, and 30 letters and digits that
// stand for the whole path.
func pathHash(path string) string {
	readable := regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	sum := sha1.Sum([]byte(path))
	return readable[:min(len(readable), 15)] + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:30]
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
			if news := s.news(); news != nil {
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

// news returns the update about the last read, or nil when the receiver has been
// told.
//
// Until the receiver has had an update without an error, a file that is too
// fresh to be read holds the update back: without the file it would say that
// nothing is wanted but what is in it, and the containers of the file's pods
// would go.
func (s *SourceFile) news() *api.PodUpdate {
	fresh := slices.DeleteFunc(slices.Collect(maps.Values(s.files)), func(f *manifestFile) bool { return !f.fresh() })
	incomplete := !s.spoken && len(fresh) > 0
	switch now := s.now(); {
	case !incomplete:
		s.holdSince = time.Time{}
	case s.holdSince.IsZero():
		s.holdSince = now
		return nil
	case now.Sub(s.holdSince) < maxHold:
		return nil
	}
	if incomplete {
		for _, f := range fresh {
			f.err = fmt.Errorf("read %q: it is written to all the time, and is read once it is left alone for %v", f.place, settleTime)
		}
	}
	return s.report(s.now(), inOrder(s.files), s.pathErr)
}

// sent notes that the receiver has the update.
func (s *SourceFile) sent(update api.PodUpdate) {
	s.spoken = s.spoken || update.Err == nil
	glog.V(4).Infof("File source: sent %d pods, error: %v", len(update.Pods), update.Err)
}
