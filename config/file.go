package config

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kubelet14/api"
)

const (
	// settleTime is the time between two snapshots that must be equal before anything
	// is read. A file that is being written, renamed or replaced is complete by then.
	settleTime = 50 * time.Millisecond
	// maxUnsettled is how long files that change all the time delay the others.
	maxUnsettled = time.Second
	// hintDelay lets the many events of one edit lead to one poll.
	hintDelay = 5 * time.Millisecond
)

// SourceFile is the source "file": the manifests of one file or of one directory. It
// takes a snapshot of the files every pollInterval, and soon after a hint of its
// watch; after a change it takes another one every settleTime.
type SourceFile struct {
	source
	pollInterval time.Duration
	parser       Parser

	whole          input             // place is the absolute path
	files          map[string]*input // by path
	last           snapshot          // nil if the path could not be read
	unsettledSince time.Time         // zero if the last two snapshots are equal
	ignored        map[string]bool   // paths in the directory that are not read
}

// NewSourceFile returns the source for path, which is made absolute. pollInterval
// must be more than 0.
func NewSourceFile(path string, pollInterval time.Duration, parser Parser) *SourceFile {
	if abs, err := filepath.Abs(path); err == nil { // fails only without a working directory
		path = abs
	}
	return &SourceFile{
		source:       source{title: "File source", name: "file", place: path},
		pollInterval: pollInterval,
		parser:       parser,
		whole:        input{place: path},
		files:        map[string]*input{},
	}
}

// Run implements Source.
func (s *SourceFile) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	watch := newPathWatch(s.place)
	defer watch.close()
	due := time.After(0)
	var hinted <-chan time.Time // nil without a hint
	hint := func() {
		// No early poll while the files change: two equal snapshots would prove nothing.
		if hinted == nil && s.unsettledSince.IsZero() {
			hinted = time.After(hintDelay)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-watch.events:
			if watch.concerns(event) {
				hint()
			}
			continue
		case <-watch.errors: // events are missing
			hint()
			continue
		case <-hinted:
		case <-due:
		}
		watch.follow() // before the snapshot, so that no change falls between them
		wait, done := s.poll(time.Now())
		if done {
			s.publish(ctx, updates, append(sorted(s.files), &s.whole)...)
		}
		hinted, due = nil, time.After(wait)
	}
}

// poll takes a snapshot, and if that is equal to the last one reads the files that
// have changed. It returns when to poll again and whether the inputs are up to date.
func (s *SourceFile) poll(now time.Time) (wait time.Duration, done bool) {
	before := s.last
	s.last, s.whole.err = s.snapshot()
	switch {
	case s.whole.err != nil: // the files stay as they were
		s.unsettledSince = time.Time{}
		return s.pollInterval, true
	case before != nil && maps.Equal(before, s.last):
		s.unsettledSince = time.Time{}
		s.read(before)
		return s.pollInterval, true
	case s.unsettledSince.IsZero():
		s.unsettledSince = now
	case now.Sub(s.unsettledSince) >= maxUnsettled:
		s.read(before)
		return settleTime, true
	}
	return settleTime, false
}

// read brings the inputs up to date with the last snapshot and the one before it. A
// file that differs between the two is still being written, and keeps its pods.
func (s *SourceFile) read(before snapshot) {
	for path := range s.files {
		if s.last[path] == "" && before[path] == "" {
			delete(s.files, path)
		}
	}
	for path, version := range s.last {
		if s.files[path] == nil {
			s.files[path] = &input{place: path}
		}
		s.files[path].load(version, func() ([]api.Pod, error) {
			if before[path] != version {
				return nil, fmt.Errorf("read %q: it changes all the time, and is read once it is unchanged for %v", path, settleTime)
			}
			text, err := readFile(path, version)
			if err != nil {
				return nil, err
			}
			return s.parser.pods("file", path, text, s.parser.Scheme.Decode, func(number int) string { return fileName(path, number) })
		})
	}
}

// fileName names the pod of a manifest without an id as in 2014: at most 15 letters
// and digits of the file's name and a hash of its path. From the second manifest on
// the number follows.
func fileName(path string, number int) string {
	readable := regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	sum := sha1.Sum([]byte(path))
	name := readable[:min(len(readable), 15)] + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:30]
	if number > 1 {
		name += fmt.Sprint("-", number)
	}
	return name
}
