package volume

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A container may run as any user, and an attempt may be made again.
func TestMakeTerminationFile(t *testing.T) {
	r := openRoot(t)
	defer syscall.Umask(syscall.Umask(0o077))
	for range 2 {
		path, err := r.MakeTerminationFile("uid", "web.1")
		must(t, err)
		if want := filepath.Join(r.Path(), "pods/uid/termination/web.1"); path != want {
			t.Errorf("the file is %s, want %s", path, want)
		}
		wantMode(t, path, 0o666)
		wantText(t, path, "")
		write(t, path, "of a creation that failed")
	}
	wantUIDs(t, r, "uid")
	must(t, r.MoveToTrash("uid"))
	wantUIDs(t, r)
}

func TestReadAndRemoveTerminationFile(t *testing.T) {
	r := openRoot(t)
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	other, err := r.MakeTerminationFile("uid", "web.2")
	must(t, err)
	write(t, path, "good\x00bye")
	wantMessage := func(uid, attempt string, limit int64, want string) {
		t.Helper()
		if got, err := r.ReadTerminationFile(uid, attempt, limit); string(got) != want || err != nil {
			t.Errorf("%d bytes of %s of %s are %q, %v; want %q", limit, attempt, uid, got, err, want)
		}
	}
	wantMessage("uid", "web.1", 100, "good\x00bye")
	wantMessage("uid", "web.1", 4, "good")
	wantMessage("uid", "web.3", 100, "")
	wantMessage("other", "web.1", 100, "")
	for range 2 { // a file that is gone is no error
		must(t, r.RemoveTerminationFile("uid", "web.1"))
		wantMessage("uid", "web.1", 100, "")
	}
	wantText(t, other, "")
}

// Something else in the place of the file is not read, and replaced by the next file.
func TestTerminationFileIsReplaced(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"link to a file beside it": func(path string) error { return os.Symlink("secret", path) },
		"link to a file outside":   func(path string) error { return os.Symlink("/etc/passwd", path) },
		"directory":                func(path string) error { return os.Mkdir(path, 0o700) },
		"named pipe":               func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		r := openRoot(t)
		path, err := r.MakeTerminationFile("uid", "web.1")
		must(t, err)
		secret := filepath.Join(filepath.Dir(path), "secret")
		write(t, secret, "secret")
		must(t, errors.Join(os.Remove(path), replace(path)))
		if got, err := r.ReadTerminationFile("uid", "web.1", 100); len(got) > 0 || err != nil {
			t.Errorf("%s: it is read as %q, %v", name, got, err)
		}
		_, err = r.MakeTerminationFile("uid", "web.1")
		must(t, err)
		wantMode(t, path, 0o666)
		wantText(t, secret, "secret")
	}
}

func TestTerminationDirectoryThatIsALinkIsRefused(t *testing.T) {
	r, outside := openRoot(t), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(r.Path(), "pods/uid"), 0o755))
	must(t, os.Symlink(outside, filepath.Join(r.Path(), "pods/uid/termination")))
	_, err := r.MakeTerminationFile("uid", "web.1")
	wantError(t, err, "pods/uid/termination", "is not a directory", "remove it")
	wantEmpty(t, outside)
}
