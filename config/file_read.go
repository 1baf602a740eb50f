package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"kubelet14/api"
)

// manifestFile is what is known of one file of the source.
type manifestFile struct {
	path string

	// The content as it was last read.
	stamp   stamp     // zero when it could not be read, so that it is tried again
	parsed  []api.Pod // nil when it is bad
	readErr error

	// The pods in force: the last good ones. They change as a whole, and only in
	// settleClaims, so that no pod and no UID is in two files.
	held []api.Pod
	err  error // readErr, or why the parsed pods are not the held ones

	changedAt    time.Time // its mtime while it is too fresh to be read; else zero
	missingSince time.Time // when it was first not found; zero while it is there
}

// settles says whether f waits for settleTime to pass, and until when.
func (f *manifestFile) settles() (at time.Time, unsettled bool) {
	switch {
	case !f.missingSince.IsZero():
		return f.missingSince.Add(settleTime), true
	case !f.changedAt.IsZero():
		return f.changedAt.Add(settleTime), true
	}
	return time.Time{}, false
}

// stamp changes whenever the content of a file does.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

func stampOf(info fs.FileInfo) stamp {
	stat := info.Sys().(*syscall.Stat_t) // always, on a Unix
	return stamp{uint64(stat.Dev), stat.Ino, stat.Size, stat.Mtim, stat.Ctim}
}

// look brings f up to date with the disk at the time now. It never waits for a
// writer: opening a named pipe would, and so it is looked at twice.
func (f *manifestFile) look(now time.Time, parse func(file string, data []byte) ([]api.Pod, error)) {
	f.changedAt = time.Time{}
	info, err := os.Stat(f.path)
	if err != nil && isGone(f.path) {
		if f.missingSince.IsZero() {
			f.missingSince = now
		}
		return
	}
	f.missingSince = time.Time{}
	switch {
	case err != nil:
		f.unreadable(err)
	case !info.Mode().IsRegular():
		f.unreadable(notAFile(f.path, info))
	case stampOf(info) != f.stamp:
		f.load(now, parse)
	}
}

// load reads and parses the file, unless it may still be being written.
func (f *manifestFile) load(now time.Time, parse func(file string, data []byte) ([]api.Pod, error)) {
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		f.unreadable(err)
		return
	}
	defer file.Close()
	before, err := file.Stat()
	switch {
	case err != nil:
		f.unreadable(err)
		return
	case !before.Mode().IsRegular():
		f.unreadable(notAFile(f.path, before))
		return
	case isFresh(before, now):
		f.changedAt = before.ModTime()
		return
	case before.Size() > api.MaxManifestBytes:
		f.unreadable(fmt.Errorf("read %q: its %d bytes are too many for a manifest: the limit is %d", f.path, before.Size(), api.MaxManifestBytes))
		return
	}
	data, err := io.ReadAll(io.LimitReader(file, api.MaxManifestBytes+1)) // it may grow, or not tell its size
	if err != nil {
		f.unreadable(err)
		return
	}
	if after, err := file.Stat(); err != nil || stampOf(after) != stampOf(before) {
		f.changedAt = now // written while it was read
		return
	}
	f.stamp = stampOf(before)
	f.parsed, f.readErr = parse(f.path, data)
}

func notAFile(path string, info fs.FileInfo) error {
	return fmt.Errorf("read %q: it is %s, not a file", path, kindOf(info.Mode()))
}

// unreadable notes why the content is not known.
func (f *manifestFile) unreadable(err error) {
	f.stamp, f.parsed, f.readErr = stamp{}, nil, err
}

// isFresh says that the file may still be being written. A time far in the
// future is no such sign, or the file would not be read until then.
func isFresh(info fs.FileInfo, now time.Time) bool {
	return now.Sub(info.ModTime()).Abs() < settleTime
}

// isGone says that nothing has this name; a link that leads nowhere is something.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// kindOf says what a thing is that is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
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
