package volume

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestPart(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	r := openRoot(t)
	for _, v := range []Interface{claim(t, r), emptyDir(t, r, "uid")} {
		part := Part(v, "db//main/")
		if want := filepath.Join(v.GetPath(), "db/main"); part.GetPath() != want {
			t.Errorf("its path is %s, want %s", part.GetPath(), want)
		}
		unittest.Must(t, part.SetUp())
		wantMode(t, filepath.Dir(part.GetPath()), fs.ModeDir|0o777)
		wantMode(t, part.GetPath(), fs.ModeDir|0o777)
		write(t, filepath.Join(part.GetPath(), "a"), "data")
		unittest.Must(t, os.Chmod(part.GetPath(), 0o700)) // as a database does with its directory
		unittest.Must(t, part.SetUp(), Part(v, "db/main/a").SetUp())
		wantText(t, filepath.Join(part.GetPath(), "a"), "data")
		wantMode(t, part.GetPath(), fs.ModeDir|0o700)
	}
	host := t.TempDir()
	unittest.Must(t, Part(&HostDirectory{api.HostDir{Path: host}}, "db").SetUp())
	wantEmpty(t, host)
}

// A link that a program has put on the way is an error, and nothing is made where it leads.
func TestALinkInAPart(t *testing.T) {
	r := openRoot(t)
	outside := t.TempDir()
	for _, link := range []string{"db", "db/main"} {
		for _, target := range []string{outside, "..", "/nowhere"} {
			v := claim(t, r)
			unittest.Must(t, v.SetUp(), os.MkdirAll(filepath.Dir(filepath.Join(v.GetPath(), link)), 0o777))
			unittest.Must(t, os.Symlink(target, filepath.Join(v.GetPath(), link)))
			unittest.Says(t, Part(v, "db/main").SetUp(), filepath.Join(v.GetPath(), link), "remove it")
			unittest.Must(t, os.RemoveAll(filepath.Join(v.GetPath(), "db")))
		}
	}
	wantEmpty(t, outside)
}
