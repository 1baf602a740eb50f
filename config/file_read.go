package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// manifestSuffixes are the names a directory's files must end in. 2014 took any
// file without a leading dot, editors' backups too.
var manifestSuffixes = []string{".yaml", ".yml", ".json", ".manifest"}

// read brings what is known up to date with the disk. When the path itself is in
// error, all stays as it was.
func (s *SourceFile) read() {
	kind, listed, err := s.list()
	s.pathErr = nil
	if err != nil {
		s.pathErr = fmt.Errorf("read manifests: %w", err)
		for _, f := range s.files {
			f.missing, f.settlesAt = false, time.Time{} // nobody has looked
		}
		return
	}
	for path := range listed {
		if s.files[path] == nil {
			s.files[path] = &manifestFile{part: part{place: path}}
		}
	}
	for path, f := range s.files {
		now := s.now()
		f.look(now, s.podsOf)
		gone := f.missing && !now.Before(f.settlesAt)
		if gone || !listed[path] && len(f.held) == 0 {
			delete(s.files, path)
		}
	}
	settleClaims(inOrder(s.files))
	if f := s.files[s.path]; f == nil || len(f.held) > 0 { // a file that was never good binds nobody
		s.kind = kind
	}
}

// list returns what the path is, and the paths of the files that count.
func (s *SourceFile) list() (kind string, listed map[string]bool, err error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return "", nil, err
	}
	kind = kindOf(info.Mode())
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("%q is %s, neither a file nor a directory", s.path, kind)
	case s.kind != "" && kind != s.kind:
		return "", nil, fmt.Errorf("%q was %s when it was last read and is %s now: put it back, or restart the kubelet when it is meant to be one", s.path, s.kind, kind)
	case !info.IsDir():
		return kind, map[string]bool{s.path: true}, nil
	}
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return "", nil, err
	}
	return kind, s.choose(entries), nil
}

// choose returns the paths of the entries that count, and logs once each which
// do not. Hidden ones are meant to be overlooked.
func (s *SourceFile) choose(entries []fs.DirEntry) map[string]bool {
	listed, passed := map[string]bool{}, map[string]string{}
	for _, entry := range entries {
		path := filepath.Join(s.path, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		why := whyNot(path)
		if why == "" {
			listed[path] = true
			continue
		}
		passed[path] = why
		if s.passed[path] != why {
			glog.Infof("File source: %s is passed over: %s", path, why)
		}
	}
	s.passed = passed
	return listed
}

// whyNot says why a directory's entry does not count, and nothing when it does.
// A link that leads nowhere counts: it is an error of that file.
func whyNot(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "it is " + kindOf(info.Mode())
	}
	if !slices.Contains(manifestSuffixes, filepath.Ext(path)) {
		return "its name ends in none of " + strings.Join(manifestSuffixes, " ")
	}
	return ""
}

// manifestFile is what is known of one file of the source. Its place is its path.
type manifestFile struct {
	part
	stamp     string    // of the content that was read; empty when there was none, so that it is tried again
	settlesAt time.Time // when it is gone, or can be read; zero when it waits for neither
}

// fresh says that f has not been left alone for long enough to be read.
func (f *manifestFile) fresh() bool {
	return !f.missing && !f.settlesAt.IsZero()
}

// stampOf changes whenever the content of a file does.
func stampOf(info fs.FileInfo) string {
	stat := info.Sys().(*syscall.Stat_t) // always, on a Unix
	return fmt.Sprint(stat.Dev, stat.Ino, stat.Size, stat.Mtim, stat.Ctim)
}

// look brings f up to date with the disk at the time now.
func (f *manifestFile) look(now time.Time, parse func(file string, data []byte) ([]api.Pod, error)) {
	info, err := os.Stat(f.place)
	if err != nil && isGone(f.place) {
		if !f.missing {
			f.missing, f.settlesAt = true, now.Add(settleTime)
		}
		return
	}
	f.missing, f.settlesAt = false, time.Time{}
	if err == nil {
		err = f.load(info, now, parse)
	}
	if err != nil {
		f.stamp, f.parsed, f.readErr = "", nil, err
	}
}

// load reads and parses the file that info is about when it has changed, and
// leaves it for later when it may still be being written. It never waits for a
// writer, as opening or reading a named pipe would that has taken its place. The
// error says why the content is not known.
func (f *manifestFile) load(info fs.FileInfo, now time.Time, parse func(file string, data []byte) ([]api.Pod, error)) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("read %q: it is %s, not a file", f.place, kindOf(info.Mode()))
	case stampOf(info) == f.stamp:
		return nil
	// A time far in the future is no sign of a writer, or the file would not be
	// read until then.
	case now.Sub(info.ModTime()).Abs() < settleTime:
		f.settlesAt = info.ModTime().Add(settleTime)
		return nil
	case info.Size() > api.MaxManifestBytes:
		return fmt.Errorf("read %q: its %d bytes are too many for a manifest: the limit is %d", f.place, info.Size(), api.MaxManifestBytes)
	}
	file, err := os.OpenFile(f.place, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	same := func() bool {
		at, err := file.Stat()
		return err == nil && stampOf(at) == stampOf(info)
	}
	var data []byte
	if same() {
		data, err = io.ReadAll(io.LimitReader(file, api.MaxManifestBytes+1)) // it may not tell its size
	}
	if err != nil {
		return err
	}
	if !same() { // written or replaced meanwhile
		f.settlesAt = now.Add(settleTime)
		return nil
	}
	f.stamp = stampOf(info)
	f.parsed, f.readErr = parse(f.place, data)
	return nil
}

// isGone says that nothing has this name; a link that leads nowhere is something.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// kindOf says what a thing is.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a thing of its own kind"
}
