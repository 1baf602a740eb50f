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
		if !errors.Is(err, tt.err) || (vol == nil) != (tt.path == "") {
			t.Errorf("%s: got %v, %v; want path %q, error %v", tt.name, vol, err, tt.path, tt.err)
		} else if vol != nil && vol.GetPath() != tt.path {
			t.Errorf("%s: the path is %q, want %q", tt.name, vol.GetPath(), tt.path)
		}
		if tt.err != nil {
			wantError(t, err, tt.name)
		}
	}
	wantGone(t, filepath.Join(r.Path(), "pods")) // the disk is not touched
}

func TestOddNamesAreRefused(t *testing.T) {
	r := openRoot(t)
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "/", `a\b`, "a\x00b", ".hidden"} {
		v := &api.Volume{Name: bad, Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}
		if vol, err := CreateVolume(v, "uid", r); !errors.Is(err, fs.ErrInvalid) || vol != nil {
			t.Errorf("volume name %q: got %v, %v", bad, vol, err)
		}
		v.Name = "good"
		if vol, err := CreateVolume(v, bad, r); !errors.Is(err, fs.ErrInvalid) || vol != nil {
			t.Errorf("uid %q: got %v, %v", bad, vol, err)
		}
		if err := r.MoveToTrash(bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("move uid %q to the trash: got %v", bad, err)
		}
	}
}

func TestHostDirectoryIsNeverTouched(t *testing.T) {
	r := openRoot(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data"), "the user's")
	missing := filepath.Join(dir, "missing")
	for _, path := range []string{dir, missing} {
		vol, err := CreateVolume(&api.Volume{Name: "host", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: path}}}, "uid", r)
		must(t, err)
		must(t, vol.SetUp())
		must(t, vol.TearDown(t.Context()))
	}
	wantText(t, filepath.Join(dir, "data"), "the user's")
	wantGone(t, missing)
}

func TestSetUpAndTearDown(t *testing.T) {
	r := openRoot(t)
	vol, other := emptyDir(t, r, "uid", "other"), setUp(t, r, "uid")
	must(t, vol.TearDown(t.Context())) // of a volume that was not set up
	must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	must(t, os.Chmod(vol.GetPath(), 0o700)) // as a database does with its directory

	must(t, vol.SetUp()) // keeps data and mode
	wantText(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	wantMode(t, vol.GetPath(), fs.ModeDir|0o700)

	must(t, vol.TearDown(t.Context()))
	wantGone(t, vol.GetPath())
	wantText(t, filepath.Join(other, "file"), "data of uid")
	must(t, vol.TearDown(t.Context())) // again
}

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	for _, umask := range []int{0o077, 0o022, 0} {
		old := syscall.Umask(umask)
		t.Cleanup(func() { syscall.Umask(old) })
		r := openRoot(t)
		path := setUp(t, r, "uid")
		wantMode(t, path, fs.ModeDir|0o777)
		for dir := filepath.Dir(path); dir != filepath.Dir(r.Path()); dir = filepath.Dir(dir) {
			// A stricter umask may take more away; other users never get in.
			wantMode(t, dir, fs.ModeDir|0o750&^fs.FileMode(umask))
		}
	}
}

func TestSetUpFinishesWhatACrashLeft(t *testing.T) {
	vol := emptyDir(t, openRoot(t), "uid", "vol")
	must(t, os.MkdirAll(filepath.Dir(vol.GetPath()), 0o750))
	must(t, os.Mkdir(vol.GetPath(), 0))
	must(t, vol.SetUp())
	wantMode(t, vol.GetPath(), fs.ModeDir|0o777)
}

func TestSetUpRefusesAFile(t *testing.T) {
	vol := emptyDir(t, openRoot(t), "uid", "vol")
	write(t, vol.GetPath(), "a file")
	wantError(t, vol.SetUp(), vol.GetPath(), "remove it")
	wantText(t, vol.GetPath(), "a file")
}

// A link above a volume leads SetUp neither out of root_dir nor to another pod.
func TestSetUpFollowsNoLink(t *testing.T) {
	for _, level := range []string{"pods", "pods/uid", "pods/uid/volumes", "pods/uid/" + emptyDirs, "pods/uid/" + emptyDirs + "/vol"} {
		for _, target := range []string{"../outside", "inside", "../nowhere"} {
			for _, absolute := range []bool{false, true} {
				r := openRoot(t)
				target, link := filepath.Join(r.Path(), target), filepath.Join(r.Path(), level)
				if filepath.Base(target) != "nowhere" {
					must(t, os.Mkdir(target, 0o700))
				}
				must(t, os.MkdirAll(filepath.Dir(link), 0o750))
				name, err := filepath.Rel(filepath.Dir(link), target)
				must(t, err)
				if absolute {
					name = target
				}
				must(t, os.Symlink(name, link))

				wantError(t, emptyDir(t, r, "uid", "vol").SetUp(), link)

				if filepath.Base(target) == "nowhere" {
					wantGone(t, target)
				} else {
					wantMode(t, target, fs.ModeDir|0o700)
					wantEmpty(t, target)
				}
			}
		}
	}
}
