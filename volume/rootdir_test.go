package volume

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"kubelet14/api/unittest"
)

func TestOpenRootDirMakesAndMarksADirectory(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	unittest.Must(t, err, os.Mkdir(filepath.Join(dir, "real"), 0o755), os.Symlink("real", filepath.Join(dir, "link")))
	t.Chdir(dir)
	if got, err := AbsRootDir("new"); err != nil || got != filepath.Join(dir, "new") {
		t.Errorf("AbsRootDir of a missing directory is %q, %v", got, err)
	}
	wantGone(t, "new")
	want := filepath.Join(dir, "real/a/b")
	for _, name := range []string{"link/a/b", want, "./link/x/../a//b/", filepath.Join(dir, "link/a/b")} {
		r, err := OpenRootDir(name)
		unittest.Must(t, err)
		unittest.Must(t, r.Close())
		if got, err := AbsRootDir(name); err != nil || got != want || r.Path() != want {
			t.Errorf("%q: AbsRootDir is %q, %v; Path is %q; want %q", name, got, err, r.Path(), want)
		}
	}
	wantMode(t, want, fs.ModeDir|0o750)
	wantText(t, filepath.Join(want, "kubelet14.lock"), fmt.Sprintf(marker, os.Getpid(), ""))
}

func TestForeignRootDirIsRefusedAndUntouched(t *testing.T) {
	for _, name := range []string{"a", ".hidden", "pods"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".dockercfg/file"), "ours")
		write(t, filepath.Join(dir, "lost+found/file"), "of a new file system")
		write(t, filepath.Join(dir, name, "file"), "theirs")
		before := tree(dir)
		for _, open := range []func(string) (*RootDir, error){OpenRootDir, OpenExisting} {
			_, err := open(dir)
			unittest.Says(t, err, dir, `not empty ("`+name+`")`, "-root_dir")
		}
		if after := tree(dir); after != before {
			t.Errorf("it was touched:\n%s", after)
		}
		unittest.Must(t, os.RemoveAll(filepath.Join(dir, name)))
		before = tree(dir)
		for _, dir := range []string{dir, filepath.Join(dir, "missing")} {
			if r, err := OpenExisting(dir); r != nil || err != nil {
				t.Errorf("%s, in which no kubelet has worked, is opened: %v, %v", dir, r, err)
			}
		}
		if after := tree(dir); after != before {
			t.Errorf("it was touched:\n%s", after)
		}
		r, err := OpenRootDir(dir)
		unittest.Must(t, err)
		unittest.Must(t, r.Close())
	}
}

// A root_dir that is not the one that was opened is not used.
func TestRootDirThatIsReplacedIsNoticed(t *testing.T) {
	r := openRoot(t)
	setUp(t, r, "uid")
	unittest.Must(t, os.Rename(r.Path(), r.Path()+".moved"))
	for range 2 { // it is missing, then it is another one
		vol := emptyDir(t, r, "uid")
		_, listErr := r.PodUIDs()
		_, messageErr := r.MakeTerminationFile("uid", "web.1")
		errs := []error{listErr, messageErr, vol.SetUp(), r.MoveToTrash("uid"), r.EmptyTrash(t.Context())}
		for _, err := range errs {
			unittest.Says(t, err, r.Path(), "was removed or replaced")
		}
		wantText(t, filepath.Join(r.Path()+".moved/pods/uid", emptyDirs, "vol/file"), "data of uid")
		write(t, filepath.Join(r.Path(), markerFile), "of another kubelet")
	}
}

func TestOneOfManyOpenersGetsIt(t *testing.T) {
	for range 50 {
		dir := t.TempDir()
		var won atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				r, err := OpenRootDir(dir)
				if err == nil {
					won.Add(1)
					t.Cleanup(func() { r.Close() })
					_, err = r.PodUIDs() // makes a directory, which must not look foreign to the others
				}
				if err != nil && !strings.Contains(err.Error(), "another kubelet14") {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := won.Load(); n != 1 {
			t.Fatalf("%d of 8 got the root_dir, want 1", n)
		}
	}
}

// A root_dir that was moved has volumes of containers that still run, under another identity.
func TestVolumesOfAnotherHostnameAreRefused(t *testing.T) {
	dir := t.TempDir()
	claim := func(hostname string, then func(*RootDir)) error {
		t.Helper()
		r, err := OpenRootDir(dir)
		unittest.Must(t, err)
		defer r.Close()
		err = r.RecordHostname(hostname)
		then(r)
		return err
	}
	nothing := func(*RootDir) {}
	unittest.Must(t, claim("no-volumes", nothing))
	unittest.Must(t, claim("old", func(r *RootDir) { setUp(t, r, "uid") }))
	for range 2 { // it is not forgotten
		unittest.Says(t, claim("new", nothing), dir, `hostname "old"`, `hostname "new"`, "-hostname_override=old -root_dir="+dir, "-cleanup")
	}
	write(t, filepath.Join(dir, markerFile), "")
	unittest.Must(t, claim("of-today", nothing))
	unittest.Says(t, claim("new", nothing), `"of-today"`)
	unittest.Must(t, claim("of-today", func(r *RootDir) { unittest.Must(t, r.MoveToTrash("uid")) }))
	unittest.Must(t, claim("new", nothing))
}

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
