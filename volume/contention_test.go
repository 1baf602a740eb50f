package volume

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"kubelet14/api/unittest"
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

// waits returns when a process waits for a lock.
func waits(t *testing.T, pid int) {
	unittest.Await(t, func() error {
		locks, err := os.ReadFile("/proc/locks")
		if err == nil && !strings.Contains(string(locks), fmt.Sprintf("-> FLOCK  ADVISORY  WRITE %d ", pid)) {
			err = fmt.Errorf("process %d does not wait", pid)
		}
		return err
	})
}

func TestTheLockIsHandedOverToAKubeletThatWaitsForIt(t *testing.T) {
	r, other := openRoot(t), openRoot(t)
	lock := filepath.Join(r.Path(), markerFile)
	backup, err := os.OpenFile(lock, os.O_RDWR, 0)
	unittest.Must(t, err, unix.FcntlFlock(backup.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})) // of all bytes
	if err := unix.Flock(int(backup.Fd()), unix.LOCK_SH|unix.LOCK_NB); err == nil {
		t.Error("the root_dir is not locked")
	}
	program := exec.Command("flock", lock, "true")
	unittest.Must(t, program.Start())
	waits(t, program.Process.Pid)
	if yes, after := contended(t, r); yes {
		t.Errorf("after %v a program counts that is no kubelet", after)
	}
	unittest.Must(t, program.Process.Kill(), backup.Close())
	program.Wait()

	got := make(chan bool)
	go func() {
		AwaitLock(context.WithoutCancel(t.Context()), r.Path())
		next, err := OpenRootDir(r.Path())
		if err == nil {
			err = next.Close()
		}
		got <- err == nil
	}()
	waits(t, os.Getpid())
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
