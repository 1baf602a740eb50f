package volume

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestTerminationFile(t *testing.T) {
	r := openRoot(t)
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(r.Path(), "pods/uid/termination/web.1")
	for range 2 { // an attempt may be made again
		if got, err := r.MakeTerminationFile("uid", "web.1"); got != path || err != nil {
			t.Errorf("the file is %s, %v; want %s", got, err, path)
		}
		wantMode(t, path, 0o666) // a container may run as any user
		wantText(t, path, "")
		write(t, path, "good\x00bye")
	}
	wantMessage := func(uid, attempt string, limit int64, want string) {
		t.Helper()
		if got, err := r.ReadTerminationFile(uid, attempt, limit); string(got) != want || err != nil {
			t.Errorf("%d bytes of %s of %s are %q, %v; want %q", limit, attempt, uid, got, err, want)
		}
	}
	wantMessage("uid", "web.1", 4, "good")
	wantMessage("uid", "web.2", 100, "")
	wantMessage("other", "web.1", 100, "")
	must(t, r.RemoveTerminationFile("uid", "web.2")) // one that is gone is no error
	wantMessage("uid", "web.1", 100, "good\x00bye")
	must(t, r.RemoveTerminationFile("uid", "web.1"))
	wantMessage("uid", "web.1", 100, "")
	wantUIDs(t, r, "uid")
	must(t, r.MoveToTrash("uid"))
	wantUIDs(t, r)
}

// Something else in the place of the file is not read, and the next file replaces it.
func TestTerminationFileThatIsNoFile(t *testing.T) {
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
