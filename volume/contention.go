package volume

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// How long a kubelet waits for the lock, the least time it keeps it (two that are always restarted take turns), and how often it looks.
const lockPatience, minLockTime, contentionLag = 10 * time.Second, 30 * time.Second, time.Second

// waiterLock returns the lock on one byte of the lock file that marks a waiting kubelet. Another program that waits for the file, such
// as flock(1), does not take it.
func waiterLock(kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: 14, Len: 1}
}

// AwaitLock waits until the lock of a root_dir is free. Taking the lock, and reporting errors, is left to OpenRootDir.
func AwaitLock(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	go func() { // ends when it gets the lock or the process exits
		defer cancel()
		if f, err := os.Open(filepath.Join(path, markerFile)); err == nil {
			defer f.Close()
			_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, waiterLock(unix.F_RDLCK)) // others may hold it too
			_ = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		}
	}()
	<-ctx.Done()
}

// AwaitContention reports whether another kubelet starts to wait in AwaitLock before ctx is done. Upstream's kubelet exits when anything
// opens the file, such as a backup.
func (r *RootDir) AwaitContention(ctx context.Context) bool {
	for wait := minLockTime; ; wait = contentionLag {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		other := waiterLock(unix.F_WRLCK)
		err := unix.FcntlFlock(r.lock.Fd(), unix.F_OFD_GETLK, other)
		if own := waiterLock(unix.F_RDLCK); err == nil && other.Type == own.Type && other.Start == own.Start && other.Len == own.Len {
			return true
		}
	}
}
