package config

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"kubelet14/api"
)

const (
	// settleTime is the time between two looks at the files, whose fingerprints must be equal before
	// anything is read. A file that is being written, renamed or replaced is complete by then.
	settleTime = 50 * time.Millisecond
	// maxUnsettled is how long files that change all the time delay the others.
	maxUnsettled = time.Second
	// hintDelay lets the first events of an edit lead to one look.
	hintDelay = time.Millisecond
)

// SourceFile is the source "file": the manifests of one file or of one directory. It looks at their fingerprints every
// pollInterval, and soon after a hint of inotify; after a change it looks again every settleTime.
type SourceFile struct {
	source
	last           fingerprints         // nil if the path could not be read
	unsettledSince time.Time            // zero if the last two looks found the same
	changing       map[string]time.Time // when each changing file began to change, by path
	warned         map[string]string    // what was logged, by path, see warn
}

// NewSourceFile returns the source for path, which is made absolute. pollInterval must be more than 0.
func NewSourceFile(path string, pollInterval time.Duration, parser Parser) *SourceFile {
	if abs, err := filepath.Abs(path); err == nil { // fails only without a working directory
		path = abs
	}
	return &SourceFile{source: newSource("File source", "file", path, pollInterval, parser), warned: map[string]string{}}
}

func (s *SourceFile) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
	} else {
		watcher = &fsnotify.Watcher{} // gives no hints
	}
	due, hinted := time.After(0), false
	for {
		hint := false
		select {
		case <-ctx.Done():
			return
		case event := <-watcher.Events:
			hint = event.Name == s.place || filepath.Dir(event.Name) == s.place
		case <-watcher.Errors: // events are missing
			hint = true
		case <-due:
			if watcher.Events != nil {
				// A watch stays with a directory that is moved away. That of the parent notices
				// a path that is made, replaced or linked elsewhere.
				err = errors.Join(watcher.Add(filepath.Dir(s.place)), watcher.Add(s.place))
			}
			s.warnOfLimit(err)
			wait, done := s.poll(time.Now())
			if done {
				wait = min(wait, s.publish(ctx, updates))
			}
			due, hinted = time.After(wait), false
		}
		// No early look while the files change: two equal ones would prove nothing.
		if hint && !hinted && s.unsettledSince.IsZero() {
			due, hinted = time.After(hintDelay), true
		}
	}
}

// ReadOnce returns the pods, ConfigMaps and Secrets of the files as they are now, or all that
// is wrong with any of them. It is called instead of Run.
func (s *SourceFile) ReadOnce() (pods []api.Pod, configs []*api.ConfigObject, err error) {
	s.last, s.inputs[""].err = s.fingerprints()
	s.read(s.last, time.Time{})
	update, _ := s.set()
	for i := range update.Pods {
		addServices(&update.Pods[i], update.Services)
	}
	return update.Pods, update.Configs, update.Err
}

// poll looks at the files, and if they are as at the last look reads those that
// have changed. It returns when to poll again and whether the inputs are up to date.
func (s *SourceFile) poll(now time.Time) (wait time.Duration, done bool) {
	before, whole := s.last, s.inputs[""]
	s.last, whole.err = s.fingerprints()
	switch {
	case whole.err != nil: // the files stay as they were
		s.unsettledSince, s.changing = time.Time{}, nil
		return s.pollInterval, true
	case before != nil && maps.Equal(before, s.last):
		s.unsettledSince, s.changing = time.Time{}, nil
		s.read(before, now)
		return s.pollInterval, true
	case s.unsettledSince.IsZero():
		s.unsettledSince = now
	}
	changing := map[string]time.Time{}
	for path, fingerprint := range s.last {
		if before[path] != fingerprint {
			changing[path] = cmp.Or(s.changing[path], now)
		}
	}
	if s.changing = changing; now.Sub(s.unsettledSince) < maxUnsettled {
		return settleTime, false
	}
	s.read(before, now)
	return settleTime, true
}

// read brings the inputs up to date with the last look and the one before it. A file that differs between the two is
// still being written, and keeps its pods.
func (s *SourceFile) read(before fingerprints, now time.Time) {
	s.forget(func(path string) bool { return s.last[path] == "" && before[path] == "" })
	for _, path := range slices.Sorted(maps.Keys(s.last)) {
		fingerprint := s.last[path]
		since, changes := s.changing[path]
		if changes && now.Sub(since) < maxUnsettled {
			if s.status.LastSuccess.IsZero() { // else it is as if the file had come a moment later
				s.inputs[""].err = fmt.Errorf("%s: files keep coming; each is read once it is unchanged for %v", s.place, settleTime)
			}
			continue
		}
		s.input(path).load(fingerprint, func() ([]object, error) {
			if changes {
				return nil, fmt.Errorf("read %q: it changes all the time, and is read once it is unchanged for %v", path, settleTime)
			}
			text, info, err := ReadFile(path)
			if err != nil {
				return nil, err
			}
			if fingerprintOf(info) != fingerprint {
				return nil, fmt.Errorf("read %q: it has changed meanwhile", path)
			}
			return s.parser.objects("file", path, text, func(number int) string { return fileName(path, number) })
		})
	}
}

// fileName names the pod of a manifest without an id as in 2014: at most 15 letters and digits of the file's name and a
// hash of its path. From the second manifest on the number follows.
func fileName(path string, number int) string {
	readable := regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	sum := sha1.Sum([]byte(path))
	name := readable[:min(len(readable), 15)] + strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:30]
	if number > 1 {
		name += fmt.Sprint("-", number)
	}
	return name
}
