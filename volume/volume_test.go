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
	for _, tt := range []struct {
		name   string
		source *api.VolumeSource
		path   string // none: no volume
		err    error
	}{
		{"hostDir", &api.VolumeSource{HostDir: &api.HostDir{Path: "/dir/path"}}, "/dir/path", nil},
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

func TestHostDirectoryIsNeverTouched(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data"), "the user's")
	missing := filepath.Join(dir, "missing")
	for _, path := range []string{dir, missing} {
		source := &api.VolumeSource{HostDir: &api.HostDir{Path: path}}
		vol, err := CreateVolume(&api.Volume{Name: "host", Source: source}, "uid", openRoot(t))
		must(t, errors.Join(err, vol.SetUp(), vol.TearDown(t.Context())))
	}
	wantText(t, filepath.Join(dir, "data"), "the user's")
	wantGone(t, missing)
}

func TestSetUpAndTearDown(t *testing.T) {
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

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, umask := range []int{0o077, 0} {
		syscall.Umask(umask)
		r := openRoot(t)
		path := setUp(t, r, "uid")
		wantMode(t, path, fs.ModeDir|0o777)
		for dir := filepath.Dir(path); dir != filepath.Dir(r.Path()); dir = filepath.Dir(dir) {
			wantMode(t, dir, fs.ModeDir|0o750&^fs.FileMode(umask)) // other users never get in
		}
	}
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
