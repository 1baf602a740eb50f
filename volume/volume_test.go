package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"kubelet14/api"
)

func TestCreateVolume(t *testing.T) {
	r := openRoot(t)
	hostDir := filepath.Join(t.TempDir(), "dir")
	for _, tt := range []struct {
		name   string
		source *api.VolumeSource
		path   string // none: no volume
		err    error
	}{
		{"hostDir", &api.VolumeSource{HostDir: &api.HostDir{Path: hostDir}}, hostDir, nil},
		{"emptyDir", &api.VolumeSource{EmptyDir: &api.EmptyDir{}}, filepath.Join(r.Path(), "pods/my-id", emptyDirs, "emptyDir"), nil},
		{"no source", nil, "", nil},
		{"unknown kind", &api.VolumeSource{}, "", ErrUnsupportedVolumeType},
	} {
		vol, err := CreateVolume(&api.Volume{Name: tt.name, Source: tt.source}, "my-id", r)
		path := ""
		if vol != nil {
			path = vol.GetPath()
		}
		if path != tt.path || !errors.Is(err, tt.err) {
			t.Errorf("%s: the path is %q, error %v; want %q, %v", tt.name, path, err, tt.path, tt.err)
		}
		if path == hostDir { // a hostDir is never touched
			must(t, vol.SetUp())
			wantGone(t, hostDir)
			write(t, filepath.Join(hostDir, "data"), "the user's")
			must(t, vol.TearDown(t.Context()))
			wantText(t, filepath.Join(hostDir, "data"), "the user's")
		}
	}
	wantGone(t, filepath.Join(r.Path(), "pods")) // the disk is not touched
}

func TestOddNamesAreRefused(t *testing.T) {
	r := openRoot(t)
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "/", `a\b`, "a\x00b", ".hidden"} {
		source := &api.VolumeSource{EmptyDir: &api.EmptyDir{}}
		_, nameErr := CreateVolume(&api.Volume{Name: bad, Source: source}, "uid", r)
		_, uidErr := CreateVolume(&api.Volume{Name: "good", Source: source}, bad, r)
		for _, err := range []error{nameErr, uidErr, r.MoveToTrash(bad)} {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%q: got error %v", bad, err)
			}
		}
	}
}

func TestSetUpAndTearDown(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077)) // the mode of a volume does not depend on it
	r := openRoot(t)
	vol, neighbour := emptyDir(t, r, "uid"), setUp(t, r, "neighbour")
	must(t, vol.TearDown(t.Context())) // of a volume that was not set up
	must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	must(t, os.Chmod(vol.GetPath(), 0o700)) // as a database does with its directory

	must(t, vol.SetUp()) // keeps data and mode
	wantText(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	wantMode(t, vol.GetPath(), fs.ModeDir|0o700)

	must(t, vol.TearDown(t.Context()))
	wantGone(t, vol.GetPath())
	wantText(t, filepath.Join(neighbour, "file"), "data of neighbour")

	must(t, os.Mkdir(vol.GetPath(), 0)) // as a crash in SetUp leaves it
	must(t, vol.SetUp())
	wantMode(t, vol.GetPath(), fs.ModeDir|0o777)

	must(t, os.Remove(vol.GetPath()))
	write(t, vol.GetPath(), "a file")
	wantError(t, vol.SetUp(), vol.GetPath(), "remove it")
	wantText(t, vol.GetPath(), "a file")
}

// A link in the place of a directory of root_dir is an error, and nothing is made or
// deleted where it leads, be that outside, in the volume of another pod, or nowhere.
func TestLinksInRootDirAreNotFollowed(t *testing.T) {
	volumes := "pods/uid/" + emptyDirs
	levels := []string{"pods", "pods/uid", "pods/uid/volumes", volumes, volumes + "/vol", "pods/uid/termination", "trash", "trash/uid.0"}
	for _, level := range levels {
		for _, where := range []string{"../outside", "inside", "nowhere"} {
			r := openRoot(t)
			must(t, r.EmptyTrash(t.Context())) // makes the trash
			setUp(t, r, "other")
			target, link := filepath.Join(r.Path(), where), filepath.Join(r.Path(), level)
			if where != "nowhere" {
				for _, dir := range []string{"uid/" + emptyDirs + "/vol", emptyDirs + "/vol", "kubernetes.io~empty-dir/vol", "vol", ""} {
					write(t, filepath.Join(target, dir, "file"), "data")
				}
			}
			before := tree(target)
			name, err := filepath.Rel(filepath.Dir(link), target)
			must(t, errors.Join(err, os.RemoveAll(link), os.MkdirAll(filepath.Dir(link), 0o750), os.Symlink(name, link)))

			vol := emptyDir(t, r, "uid")
			_, messageErr := r.MakeTerminationFile("uid", "web.1")
			_, listErr := r.PodUIDs()
			err = errors.Join(vol.SetUp(), vol.TearDown(t.Context()), messageErr, listErr, r.MoveToTrash("other"), r.EmptyTrash(t.Context()))

			if level != "trash/uid.0" { // which is deleted, as a link
				wantError(t, err, link+`" is not a directory`, "remove it")
			}
			if after := tree(target); after != before {
				t.Errorf("a link %s to %s was followed; before:\n%safter:\n%s", level, where, before, after)
			}
		}
	}
}

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
	wantMessage("uid", "web.1", 100, "good\x00bye")
	for range 2 { // one that is gone is no error
		must(t, r.RemoveTerminationFile("uid", "web.1"))
		wantMessage("uid", "web.1", 100, "")
	}
}
