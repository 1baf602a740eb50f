package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// How long a kubelet waits for the lock; how long it keeps it, since two that are always restarted would only take turns; how often it looks.
const lockPatience, minLockTime, contentionLag = 10 * time.Second, 30 * time.Second, time.Second

// AwaitLock waits until the lock of a root_dir is free, and leaves the lock and all errors to OpenRootDir.
func AwaitLock(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	go func() { // it ends with the lock or the process
		defer cancel()
		if f, err := os.Open(filepath.Join(path, markerFile)); err == nil {
			defer f.Close()
			_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
	}()
	<-ctx.Done()
}

// AwaitContention reports whether another process waits for the lock before ctx is done: in /proc/locks it is on the line after that
// of the lock. Upstream ends when anything opens the file, as a backup does.
func (r *RootDir) AwaitContention(ctx context.Context) bool {
	info, _ := r.lock.Stat()
	contended := regexp.MustCompile(fmt.Sprintf(`: FLOCK +ADVISORY +WRITE +%d \S+:%d .*\n\d+: +->`, os.Getpid(), info.Sys().(*syscall.Stat_t).Ino))
	for wait := minLockTime; ; wait = contentionLag {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
		if locks, _ := os.ReadFile("/proc/locks"); contended.Match(locks) {
			return true
		}
	}
}
