package volume

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A container may run as any user.
func TestTerminationFileMayBeWrittenByAnyone(t *testing.T) {
	r := openRoot(t)
	defer syscall.Umask(syscall.Umask(0o077))
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	if want := filepath.Join(r.Path(), "pods/uid/termination/web.1"); path != want {
		t.Errorf("the file is %s, want %s", path, want)
	}
	wantMode(t, path, 0o666)
	wantText(t, path, "")
}

func TestTerminationFileOfAnAttemptThatIsMadeAgainIsEmpty(t *testing.T) {
	r := openRoot(t)
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	write(t, path, "what a creation left that was not carried out")
	_, err = r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	wantText(t, path, "")
}

func TestReadTerminationFile(t *testing.T) {
	r := openRoot(t)
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	write(t, path, "good\x00bye")
	for limit, want := range map[int64]string{100: "good\x00bye", 8: "good\x00bye", 4: "good"} {
		if got, err := r.ReadTerminationFile("uid", "web.1", limit); string(got) != want || err != nil {
			t.Errorf("at most %d bytes are %q, %v; want %q", limit, got, err, want)
		}
	}
	for _, none := range []struct{ uid, container string }{{"uid", "web.2"}, {"other", "web.1"}} {
		if got, err := r.ReadTerminationFile(none.uid, none.container, 100); len(got) > 0 || err != nil {
			t.Errorf("of %v there is %q, %v; want nothing", none, got, err)
		}
	}
}

func TestRemoveTerminationFile(t *testing.T) {
	r := openRoot(t)
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	other, err := r.MakeTerminationFile("uid", "web.2")
	must(t, err)
	for range 2 { // a file that is gone is no error
		must(t, r.RemoveTerminationFile("uid", "web.1"))
		wantGone(t, path)
	}
	wantText(t, other, "")
}

func TestTerminationFilesAreSetAsideWithTheirPod(t *testing.T) {
	r := openRoot(t)
	path, err := r.MakeTerminationFile("uid", "web.1")
	must(t, err)
	if uids, err := r.PodUIDs(); err != nil || len(uids) != 1 {
		t.Errorf("the UIDs with a directory are %q, %v; want one", uids, err)
	}
	must(t, r.SetAside("uid"))
	must(t, r.EmptyTrash(t.Context()))
	wantGone(t, path)
	wantGone(t, filepath.Join(r.Path(), "pods/uid"))
}

// What somebody put in the file's place is neither followed nor waited for, and
// makes room for a file.
func TestTerminationFileThatIsNone(t *testing.T) {
	for name, put := range map[string]func(r *RootDir, path string) error{
		"a link to a file beside it": func(_ *RootDir, path string) error { return os.Symlink("secret", path) },
		"a link to a file outside":   func(r *RootDir, path string) error { return os.Symlink(r.Path()+".secret", path) },
		"a directory":                func(_ *RootDir, path string) error { return os.Mkdir(path, 0o700) },
		"a named pipe":               func(_ *RootDir, path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := openRoot(t)
			path, err := r.MakeTerminationFile("uid", "web.1")
			must(t, err)
			secrets := []string{filepath.Join(filepath.Dir(path), "secret"), r.Path() + ".secret"}
			for _, secret := range secrets {
				write(t, secret, "secret")
			}
			must(t, errors.Join(os.Remove(path), put(r, path)))
			if got, _ := r.ReadTerminationFile("uid", "web.1", 100); len(got) > 0 {
				t.Errorf("it is read as %q", got)
			}
			_, err = r.MakeTerminationFile("uid", "web.1")
			must(t, err)
			wantMode(t, path, 0o666)
			for _, secret := range secrets {
				wantText(t, secret, "secret")
			}
		})
	}
}

func TestTerminationDirectoryThatIsALinkIsRefused(t *testing.T) {
	r := openRoot(t)
	outside := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(r.Path(), "pods/uid"), 0o755))
	must(t, os.Symlink(outside, filepath.Join(r.Path(), "pods/uid/termination")))
	_, err := r.MakeTerminationFile("uid", "web.1")
	wantError(t, err, "pods/uid/termination", "is not a directory", "remove it")
	wantGone(t, filepath.Join(outside, "web.1"))
}
