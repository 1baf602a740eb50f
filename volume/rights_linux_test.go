package volume

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is a user who is not root and owns nothing.
const nobody = 65534

// The kubelet of this test is not root: it is whoever runs the test, or nobody when
// that is root.
func TestWhatItMayNotDeleteIsNamedAndTriedAgain(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		emptyTrashAsUser(t, dir)
		return
	}
	dir, err := os.MkdirTemp("", "it's a root_dir") // not t.TempDir, whose parent lets nobody in
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	locked := filepath.Join(dir, "trash/uid.0/volumes", emptyDirKind, "vol/locked")
	for _, file := range []string{filepath.Join(locked, "file"), filepath.Join(dir, "trash/uid.0/other"), filepath.Join(dir, "trash/uid2.0/file")} {
		write(t, file, "data")
	}
	write(t, filepath.Join(dir, markerFile), "")
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

	out, err := again(t, dir, attr).CombinedOutput()
	if err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}

	wantText(t, filepath.Join(locked, "file"), "data")
	wantGone(t, filepath.Join(dir, "trash/uid.0/other"))
	wantGone(t, filepath.Join(dir, "trash/uid2.0"))
	must(t, os.Chmod(locked, 0o755))
	r, err := OpenRootDir(dir)
	must(t, err)
	defer r.Close()
	must(t, r.EmptyTrash(t.Context())) // as one who may
	wantGone(t, filepath.Join(dir, "trash/uid.0"))
}

func emptyTrashAsUser(t *testing.T, dir string) {
	r, err := OpenRootDir(dir)
	must(t, err)
	defer r.Close()
	for range 2 { // it is tried again, and says the same
		entry := filepath.Join(r.Path(), "trash/uid.0")
		wantError(t, r.EmptyTrash(t.Context()),
			filepath.Join(entry, "volumes", emptyDirKind, "vol/locked/file"), "permission denied", "sudo rm -rf "+shellQuote(entry))
	}
}

func TestTheCommandFitsTheReason(t *testing.T) {
	denied := &os.PathError{Op: "unlinkat", Path: "x", Err: syscall.EACCES}
	wantError(t, withCommand(denied, "/a/it's\n1"), denied.Error(), "this would do it: sudo rm -rf '/a/it'\\''s\n1'")
	busy := &os.PathError{Op: "unlinkat", Path: "x", Err: syscall.EBUSY}
	if err := withCommand(busy, "/a"); err != error(busy) {
		t.Errorf("a command was given that does not help: %v", err)
	}
	if err := withCommand(nil, "/a"); err != nil {
		t.Error(err)
	}
}

// What a root may not delete is immutable, and a command that leaves it so is of no
// use.
func TestImmutableFileNeedsAnotherCommand(t *testing.T) {
	immutable := &os.PathError{Op: "unlinkat", Path: "x", Err: syscall.EPERM}
	err := withCommand(immutable, "/a b")
	if os.Geteuid() == 0 {
		wantError(t, err, "sudo chattr -R -f -i -a '/a b'; sudo rm -rf '/a b'")
	} else {
		wantError(t, err, "it: sudo rm -rf '/a b'")
	}
}
