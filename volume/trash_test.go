package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

func wantUIDs(t *testing.T, r *RootDir, want ...string) {
	t.Helper()
	if got, err := r.PodUIDs(); err != nil || !slices.Equal(got, want) {
		t.Errorf("PodUIDs is %q, %v; want %q; root_dir contains\n%s", got, err, want, tree(r.Path()))
	}
}

// A pod that comes back under its UID starts with empty volumes, at once. What one process
// leaves in the trash the next one deletes.
func TestMoveToTrashAndEmptyTrash(t *testing.T) {
	r := openRoot(t)
	wantUIDs(t, r)
	neighbour := setUp(t, r, "neighbour")
	write(t, filepath.Join(r.Path(), "pods/file"), "")
	write(t, filepath.Join(r.Path(), "pods/.hidden/file"), "")
	unittest.Must(t, os.Symlink("neighbour", filepath.Join(r.Path(), "pods/link")))
	unittest.Must(t, r.MoveToTrash("none")) // a UID without a directory
	for range 3 {
		vol := emptyDir(t, r, "uid")
		unittest.Must(t, vol.SetUp())
		wantEmpty(t, vol.GetPath())
		write(t, filepath.Join(vol.GetPath(), "a/b/c"), "data")
		unittest.Must(t, r.MoveToTrash("uid"))
		wantUIDs(t, r, "neighbour")
	}
	old, err := filepath.Glob(filepath.Join(r.Path(), "trash/uid.*", emptyDirs, "vol/a/b/c"))
	if err != nil || len(old) != 3 {
		t.Errorf("the trash contains %q, want the data of three pods", old)
	}
	unittest.Must(t, r.Close())
	// A kubelet that was killed at its first start may leave the marker empty.
	unittest.Must(t, os.Truncate(filepath.Join(r.Path(), markerFile), 0))

	again, err := OpenRootDir(r.Path())
	unittest.Must(t, err)
	defer again.Close()
	unittest.Must(t, again.EmptyTrash(t.Context()))
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
	wantUIDs(t, again, "neighbour")
	wantText(t, filepath.Join(neighbour, "file"), "data of neighbour")
}

// What the links in a volume lead to stays.
func TestDeletingFollowsNoLink(t *testing.T) {
	r := openRoot(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "dir/file"), "theirs")
	neighbour := setUp(t, r, "neighbour")
	vol := setUp(t, r, "uid")
	for i, target := range []string{outside, outside + "/dir/file", "/", "..", "../../../../neighbour", neighbour, "link6", "missing"} {
		unittest.Must(t, os.Symlink(target, filepath.Join(vol, fmt.Sprintf("link%d", i))))
	}
	unittest.Must(t, os.Link(filepath.Join(outside, "dir/file"), filepath.Join(vol, "hard")))
	unittest.Must(t, r.MoveToTrash("uid"), r.EmptyTrash(t.Context()))
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
	wantText(t, filepath.Join(outside, "dir/file"), "theirs")
	wantText(t, filepath.Join(neighbour, "file"), "data of neighbour")
}

// stopped is a context that is done when it is first waited for.
type stopped struct{ context.Context }

func (stopped) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// A large volume must not delay the end of the kubelet.
func TestEmptyTrashStopsWithItsContext(t *testing.T) {
	r := openRoot(t)
	trash := filepath.Join(r.Path(), "trash")
	for tries := 10; ; tries-- { // the deletion can win the race on a busy machine
		vol := setUp(t, r, "uid")
		for i := range 3000 {
			write(t, filepath.Join(vol, fmt.Sprint(i)), "")
		}
		unittest.Must(t, r.MoveToTrash("uid"))
		before := tree(trash)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.EmptyTrash(canceled); !errors.Is(err, context.Canceled) || tree(trash) != before {
			t.Errorf("it deletes when its context is done: %v", err)
		}
		r.EmptyTrash(stopped{t.Context()})
		if left, err := os.ReadDir(trash); err != nil || tries == 0 {
			t.Fatalf("it waits until all files are deleted (error %v)", err)
		} else if len(left) > 0 {
			break
		}
	}
	unittest.Must(t, r.EmptyTrash(t.Context()))
	wantEmpty(t, trash)
}

// The kubelet of this test is not root, and deletes what it can.
func TestWhatItMayNotDeleteIsNamedAndTriedAgain(t *testing.T) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		dir, err := os.MkdirTemp("", "it's a root_dir") // not t.TempDir, which nobody may not enter
		unittest.Must(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		attr := &syscall.SysProcAttr{}
		if os.Getuid() == 0 {
			const nobody = 65534
			unittest.Must(t, os.Chown(dir, nobody, nobody))
			attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
		if out, err := runAgain(t, dir, attr).CombinedOutput(); err != nil {
			t.Errorf("as another user: %v\n%s", err, out)
		}
		return
	}
	r, err := OpenRootDir(dir)
	unittest.Must(t, err)
	defer r.Close()
	entry := filepath.Join(r.Path(), "trash/uid.0")
	locked, other := filepath.Join(entry, "vol/locked"), filepath.Join(entry, "other")
	write(t, filepath.Join(locked, "file"), "data")
	write(t, other, "data")
	write(t, filepath.Join(r.Path(), "trash/uid2.0/file"), "data")
	unittest.Must(t, os.Chmod(locked, 0o555)) // as good as a directory of another user
	for range 2 {
		unittest.Says(t, r.EmptyTrash(t.Context()), fmt.Sprintf("%q", entry), "permission denied", "sudo rm -rf "+shellQuote(entry))
		wantText(t, filepath.Join(locked, "file"), "data")
		wantGone(t, other)
		wantGone(t, filepath.Join(r.Path(), "trash/uid2.0"))
	}
	unittest.Must(t, os.Chmod(locked, 0o755))
	unittest.Must(t, r.EmptyTrash(t.Context()))
	wantGone(t, entry)
}
