package volume

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestSetUpAndTearDown(t *testing.T) {
	r := openRoot(t)
	vol, other := emptyDir(t, r, "uid", "vol"), setUp(t, r, "uid", "other")
	must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	write(t, filepath.Join(other, "c"), "other data")

	must(t, vol.TearDown(t.Context()))

	wantGone(t, vol.GetPath())
	wantText(t, filepath.Join(other, "c"), "other data")
	if left, err := r.list(trashDir); err != nil || len(left) > 0 {
		t.Errorf("the trash holds %q (error %v), want nothing", left, err)
	}
	must(t, vol.TearDown(t.Context())) // a second time does nothing
}

func TestTearDownOfAVolumeThatNeverWas(t *testing.T) {
	r := openRoot(t)
	must(t, emptyDir(t, r, "uid", "vol").TearDown(t.Context()))
}

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	for _, umask := range []int{0o077, 0o022, 0} {
		old := syscall.Umask(umask)
		t.Cleanup(func() { syscall.Umask(old) })
		r := openRoot(t)
		path := setUp(t, r, "uid", "vol")
		wantMode(t, path, fs.ModeDir|0o777)
		for dir := filepath.Dir(path); dir != filepath.Dir(r.Path()); dir = filepath.Dir(dir) {
			// A stricter umask may take more away; others never get in.
			wantMode(t, dir, fs.ModeDir|0o750&^fs.FileMode(umask))
		}
	}
}

func TestSetUpAgainKeepsDataAndMode(t *testing.T) {
	r := openRoot(t)
	vol := emptyDir(t, r, "uid", "vol")
	must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "file"), "data")
	must(t, os.Chmod(vol.GetPath(), 0o700)) // as a database does with its directory

	must(t, vol.SetUp())

	wantText(t, filepath.Join(vol.GetPath(), "file"), "data")
	wantMode(t, vol.GetPath(), fs.ModeDir|0o700)
}

func TestSetUpFinishesWhatACrashLeftHalfMade(t *testing.T) {
	r := openRoot(t)
	vol := emptyDir(t, r, "uid", "vol")
	must(t, os.MkdirAll(filepath.Dir(vol.GetPath()), 0o750))
	must(t, os.Mkdir(vol.GetPath(), 0))

	must(t, vol.SetUp())

	wantMode(t, vol.GetPath(), fs.ModeDir|0o777)
}

func TestSetUpRefusesWhatIsNoDirectory(t *testing.T) {
	r := openRoot(t)
	vol := emptyDir(t, r, "uid", "vol")
	write(t, vol.GetPath(), "a file")

	wantError(t, vol.SetUp(), vol.GetPath(), "remove it")

	wantText(t, vol.GetPath(), "a file")
}

// A link on the way to a volume must lead SetUp nowhere: neither out of root_dir,
// nor to the volume of another pod.
func TestSetUpFollowsNoLink(t *testing.T) {
	levels := []string{"pods", "pods/uid", "pods/uid/volumes", "pods/uid/volumes/" + emptyDirKind, "pods/uid/volumes/" + emptyDirKind + "/vol"}
	for _, level := range levels {
		for _, where := range []string{"outside", "outside, relative", "inside", "nowhere"} {
			t.Run(level+" to "+where, func(t *testing.T) {
				r := openRoot(t)
				target := filepath.Join(filepath.Dir(r.Path()), "outside")
				link := filepath.Join(r.Path(), level)
				must(t, os.MkdirAll(filepath.Dir(link), 0o750))
				switch where {
				case "inside":
					target = filepath.Join(r.Path(), "inside")
				case "nowhere":
					target = filepath.Join(target, "nowhere")
				}
				if where != "nowhere" {
					must(t, os.Mkdir(target, 0o700))
				}
				name := target
				if where == "inside" || where == "outside, relative" {
					var err error
					name, err = filepath.Rel(filepath.Dir(link), target)
					must(t, err)
				}
				must(t, os.Symlink(name, link))

				wantError(t, emptyDir(t, r, "uid", "vol").SetUp(), link)

				if where == "nowhere" {
					wantGone(t, target)
					return
				}
				wantMode(t, target, fs.ModeDir|0o700)
				if in, err := os.ReadDir(target); err != nil || len(in) > 0 {
					t.Errorf("SetUp followed the link: %v, %v", in, err)
				}
			})
		}
	}
}
