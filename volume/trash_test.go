package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func wantUIDs(t *testing.T, r *RootDir, want ...string) {
	t.Helper()
	if got, err := r.PodUIDs(); err != nil || !slices.Equal(got, want) {
		t.Errorf("PodUIDs is %q, %v; want %q; root_dir contains\n%s", got, err, want, tree(r.Path()))
	}
}

func TestPodUIDs(t *testing.T) {
	r := openRoot(t)
	wantUIDs(t, r)
	setUp(t, r, "b")
	setUp(t, r, "a")
	write(t, filepath.Join(r.Path(), "pods/file"), "")
	must(t, os.Mkdir(filepath.Join(r.Path(), "pods/.hidden"), 0o755))
	must(t, os.Symlink("a", filepath.Join(r.Path(), "pods/link")))
	wantUIDs(t, r, "a", "b")
}

func TestMoveToTrashAndEmptyTrash(t *testing.T) {
	r := openRoot(t)
	orphan, neighbour := setUp(t, r, "orphan"), setUp(t, r, "neighbour")
	write(t, filepath.Join(orphan, "a/b/c"), "data")
	must(t, r.MoveToTrash("none")) // a UID without a directory
	must(t, r.MoveToTrash("orphan"))
	wantUIDs(t, r, "neighbour")
	trash := inTrash(t, r, "orphan")
	wantText(t, filepath.Join(trash, emptyDirs, "vol/a/b/c"), "data")

	// Another process deletes what this one has left.
	must(t, r.Close())
	again, err := OpenRootDir(r.Path())
	must(t, err)
	defer again.Close()
	must(t, again.EmptyTrash(t.Context()))
	wantGone(t, trash)
	wantText(t, filepath.Join(neighbour, "file"), "data of neighbour")
}

// A pod that comes back under its UID starts with empty volumes, at once.
func TestUIDComesBackBeforeItsTrashIsDeleted(t *testing.T) {
	r := openRoot(t)
	for range 3 {
		vol := emptyDir(t, r, "uid", "vol")
		must(t, vol.SetUp())
		wantEmpty(t, vol.GetPath())
		write(t, filepath.Join(vol.GetPath(), "file"), "")
		must(t, r.MoveToTrash("uid"))
	}
	must(t, r.EmptyTrash(t.Context()))
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
}

// What a container put into its volume is deleted whatever its name is, and what its
// links lead to stays.
func TestDeletingFollowsNoLink(t *testing.T) {
	r := openRoot(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "dir/file"), "theirs")
	neighbour := setUp(t, r, "neighbour")
	for _, remove := range []func(vol Interface) error{
		func(vol Interface) error { return vol.TearDown(t.Context()) },
		func(Interface) error { return errors.Join(r.MoveToTrash("uid"), r.EmptyTrash(t.Context())) },
	} {
		vol := emptyDir(t, r, "uid", "vol")
		must(t, vol.SetUp())
		for i, target := range []string{outside, outside + "/dir", outside + "/dir/file", "/", "..", "../../../../neighbour", neighbour, "link7", "missing"} {
			must(t, os.Symlink(target, filepath.Join(vol.GetPath(), fmt.Sprintf("link%d", i))))
		}
		for _, name := range []string{"a b", "new\nline", "'quote'", `"double"`, `back\slash`, "-rf", "~", "*", "\xff\xfe", "...", "$(x)"} {
			write(t, filepath.Join(vol.GetPath(), name, name), "data")
		}
		must(t, os.Link(filepath.Join(outside, "dir/file"), filepath.Join(vol.GetPath(), "hard")))

		must(t, remove(vol))

		wantGone(t, vol.GetPath())
		wantText(t, filepath.Join(outside, "dir/file"), "theirs")
		wantText(t, filepath.Join(neighbour, "file"), "data of neighbour")
	}
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
}

// A link in the place of a directory of root_dir does not lead to its target.
func TestLinksInRootDirAreNotFollowed(t *testing.T) {
	for _, level := range []string{"pods", "pods/uid", "pods/uid/volumes", "trash", "trash/uid.0"} {
		for _, where := range []string{"../outside", "inside"} {
			r := openRoot(t)
			must(t, r.EmptyTrash(t.Context())) // makes the trash
			target, link := filepath.Join(r.Path(), where), filepath.Join(r.Path(), level)
			files := []string{"file", "uid/file", "uid/" + emptyDirs + "/vol/file", "kubernetes.io~empty-dir/vol/file"}
			for _, file := range files {
				write(t, filepath.Join(target, file), "data")
			}
			name, err := filepath.Rel(filepath.Dir(link), target)
			must(t, err)
			must(t, os.RemoveAll(link))
			must(t, os.MkdirAll(filepath.Dir(link), 0o750))
			must(t, os.Symlink(name, link))

			vol := emptyDir(t, r, "uid", "vol")
			_, listErr := r.PodUIDs()
			tearErr := vol.TearDown(t.Context())
			moveErr, trashErr := r.MoveToTrash("uid"), r.EmptyTrash(t.Context())

			if strings.HasPrefix(level, "pods") {
				wantError(t, tearErr, link, "is not a directory")
			}
			if level == "pods" {
				wantError(t, listErr, link, "is not a directory")
				wantError(t, moveErr, link, "is not a directory")
			} else if level == "trash" {
				wantError(t, moveErr, link, "is not a directory")
				wantError(t, trashErr, link, "is not a directory")
			}
			for _, file := range files {
				wantText(t, filepath.Join(target, file), "data")
			}
		}
	}
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
	vol := setUp(t, r, "uid")
	for i := range 3000 {
		write(t, filepath.Join(vol, fmt.Sprint(i)), "")
	}
	must(t, r.MoveToTrash("uid"))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.EmptyTrash(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first entry: error is %v, want that of the context", err)
	}
	wantText(t, filepath.Join(inTrash(t, r, "uid"), emptyDirs, "vol/file"), "data of uid")
	r.EmptyTrash(stopped{t.Context()})
	left, err := os.ReadDir(filepath.Join(r.Path(), "trash"))
	if err != nil || len(left) == 0 {
		t.Errorf("after %v it waited for all files to be deleted", err)
	}
	must(t, r.EmptyTrash(t.Context()))
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
}

func TestDeepVolumeIsDeleted(t *testing.T) {
	r := openRoot(t)
	dir, err := os.OpenRoot(setUp(t, r, "uid"))
	must(t, err)
	for range 1000 {
		must(t, dir.Mkdir("deeper", 0o755))
		below, err := dir.OpenRoot("deeper")
		must(t, err)
		dir.Close()
		dir = below
	}
	dir.Close()
	must(t, r.MoveToTrash("uid"))
	must(t, r.EmptyTrash(t.Context()))
	wantEmpty(t, filepath.Join(r.Path(), "trash"))
}

// nobody is a user who is not root and owns nothing.
const nobody = 65534

// The kubelet of this test is not root: it is the user of the test, or nobody.
func TestFilesOfAnotherUserAreNamedAndTriedAgain(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		r, err := OpenRootDir(dir)
		must(t, err)
		defer r.Close()
		for range 2 {
			entry := filepath.Join(r.Path(), "trash/uid.0")
			wantError(t, r.EmptyTrash(t.Context()), fmt.Sprintf("%q", entry), "permission denied", "sudo rm -rf "+shellQuote(entry))
		}
		return
	}
	dir, err := os.MkdirTemp("", "it's a root_dir") // not t.TempDir, which nobody may not enter
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	locked := filepath.Join(dir, "trash/uid.0", emptyDirs, "vol/locked")
	for _, file := range []string{filepath.Join(locked, "file"), filepath.Join(dir, "trash/uid.0/other"), filepath.Join(dir, "trash/uid2.0/file")} {
		write(t, file, "data")
	}
	write(t, filepath.Join(dir, markerFile), "")
	must(t, os.Mkdir(filepath.Join(dir, "pods"), 0o750))
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if path == locked { // root's, as a container's root makes them
				return filepath.SkipDir
			}
			return os.Chown(path, nobody, nobody)
		}))
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else {
		must(t, os.Chmod(locked, 0o555))
		t.Cleanup(func() { os.Chmod(locked, 0o755) })
	}

	if out, err := runAgain(t, dir, attr).CombinedOutput(); err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}

	wantText(t, filepath.Join(locked, "file"), "data")
	wantGone(t, filepath.Join(dir, "trash/uid.0/other")) // it deletes what it can
	wantGone(t, filepath.Join(dir, "trash/uid2.0"))
	must(t, os.Chmod(locked, 0o755))
	r, err := OpenRootDir(dir)
	must(t, err)
	defer r.Close()
	must(t, r.EmptyTrash(t.Context())) // as one who may
	wantEmpty(t, filepath.Join(dir, "trash"))
}
