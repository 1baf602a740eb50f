package volume

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/unittest"
)

// contended returns what AwaitContention of a root_dir returns within an hour, and when.
func contended(t *testing.T, r *RootDir) (yes bool, after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		yes = r.AwaitContention(ctx)
		after = time.Since(began)
	})
	return yes, after
}

func TestTheLockIsHandedOverToWhoeverWaitsForIt(t *testing.T) {
	r, other := openRoot(t), openRoot(t)
	lock := filepath.Join(r.Path(), markerFile)
	backup, err := os.Open(lock)
	unittest.Must(t, err)
	defer backup.Close()
	if err := syscall.Flock(int(backup.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		t.Error("the root_dir is not locked")
	}
	if yes, after := contended(t, r); yes {
		t.Errorf("after %v a file that is open counts as contention", after)
	}

	got := make(chan bool)
	go func() {
		AwaitLock(context.WithoutCancel(t.Context()), r.Path())
		next, err := OpenRootDir(r.Path())
		if err == nil {
			err = next.Close()
		}
		got <- err == nil
	}()
	for waits := false; !waits; runtime.Gosched() { // until it does
		locks, err := os.ReadFile("/proc/locks")
		unittest.Must(t, err)
		waits = strings.Contains(string(locks), fmt.Sprintf("-> FLOCK  ADVISORY  WRITE %d ", os.Getpid()))
	}
	if yes, after := contended(t, other); yes {
		t.Errorf("after %v another lock counts", after)
	}
	if yes, after := contended(t, r); !yes || after != minLockTime {
		t.Errorf("it is %v after %v, want true after %v", yes, after, minLockTime)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	AwaitLock(canceled, r.Path())
	AwaitLock(t.Context(), "/nothing")
	unittest.Must(t, r.Close())
	if !<-got {
		t.Error("the other one did not get it")
	}
}
