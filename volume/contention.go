package volume

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// How long a kubelet waits for the lock; how long it keeps it, since two that are always restarted take turns; how often it looks.
const lockPatience, minLockTime, contentionLag = 10 * time.Second, 30 * time.Second, time.Second

// claim returns the lock on one byte of the lock file by which a kubelet that waits is known. Another program that waits for
// the file, such as flock(1), does not have it.
func claim(kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: 14, Len: 1}
}

// AwaitLock waits until the lock of a root_dir is free, and leaves the lock and all errors to OpenRootDir.
func AwaitLock(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	go func() { // it ends with the lock or the process
		defer cancel()
		if f, err := os.Open(filepath.Join(path, markerFile)); err == nil {
			defer f.Close()
			_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, claim(unix.F_RDLCK)) // which others may have, too
			_ = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		}
	}()
	<-ctx.Done()
}

// AwaitContention reports whether another kubelet waits for the lock, in AwaitLock, before ctx is done. Upstream ends when anything
// opens the file, as a backup does.
func (r *RootDir) AwaitContention(ctx context.Context) bool {
	for wait := minLockTime; ; wait = contentionLag {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		other := claim(unix.F_WRLCK)
		err := unix.FcntlFlock(r.lock.Fd(), unix.F_OFD_GETLK, other)
		if own := claim(unix.F_RDLCK); err == nil && other.Type == own.Type && other.Start == own.Start && other.Len == own.Len {
			return true
		}
	}
}
