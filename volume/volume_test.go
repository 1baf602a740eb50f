package volume

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestMain(m *testing.M) { unittest.Main(m) }

func openRoot(t *testing.T) *RootDir {
	t.Helper()
	r, err := OpenRootDir(filepath.Join(t.TempDir(), "root"))
	unittest.Must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// emptyDir returns the emptyDir volume "vol" of a pod, which is not set up.
func emptyDir(t *testing.T, r *RootDir, uid string) Interface {
	t.Helper()
	vol, err := CreateVolume(&api.Volume{Name: "vol", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}, testPod("default", uid), r)
	unittest.Must(t, err)
	return vol
}

// claim returns the claim "data" of the namespace "shop", which is not set up.
func claim(t *testing.T, r *RootDir) Interface {
	t.Helper()
	vol, err := CreateVolume(&api.Volume{Name: "v", Source: &api.VolumeSource{Claim: &api.Claim{Name: "data"}}}, testPod("shop", "uid"), r)
	unittest.Must(t, err)
	return vol
}

// setUp makes an emptyDir volume with one file in it, and returns its path.
func setUp(t *testing.T, r *RootDir, uid string) string {
	t.Helper()
	vol := emptyDir(t, r, uid)
	unittest.Must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "file"), "data of "+uid)
	return vol.GetPath()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	unittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s contains %q (error %v), want %q", path, got, err, want)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || info.Mode() != want {
		t.Errorf("%s: got %v, %v, want mode %v", path, info, err, want)
	}
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: got error %v, want it to be gone; what is left:\n%s", path, err, tree(path))
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s contains %v (error %v), want nothing", dir, left, err)
	}
}

func tree(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		b.WriteString(path + "\n")
		return nil
	})
	return b.String()
}

// childEnv is set in a process that runAgain starts; its value is the test's to use.
const childEnv = "KUBELET14_VOLUME_TEST"

// runAgain returns a command that runs the calling test alone in another process, with
// childEnv set. It uses /proc because another user may not see the test binary.
func runAgain(t *testing.T, env string, attr *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+env)
	cmd.SysProcAttr = attr
	return cmd
}

func testPod(namespace, uid string) *api.Pod { return &api.Pod{Namespace: namespace, UID: uid} }

func TestCreateVolume(t *testing.T) {
	r := openRoot(t)
	for _, tt := range []struct {
		name   string
		source *api.VolumeSource
		path   string
	}{
		{"hostDir", &api.VolumeSource{HostDir: &api.HostDir{Path: "/dir"}}, "/dir"},
		{"claim", &api.VolumeSource{Claim: &api.Claim{Name: "data.v2"}}, filepath.Join(r.Path(), "claims/default/data.v2")},
		{"emptyDir", &api.VolumeSource{EmptyDir: &api.EmptyDir{}}, filepath.Join(r.Path(), "pods/my-id", emptyDirs, "emptyDir")},
	} {
		vol, err := CreateVolume(&api.Volume{Name: tt.name, Source: tt.source}, testPod("default", "my-id"), r)
		unittest.Must(t, err)
		if path := vol.GetPath(); path != tt.path {
			t.Errorf("%s: the path is %q, want %q", tt.name, path, tt.path)
		}
	}
	wantGone(t, filepath.Join(r.Path(), "pods")) // the disk is not touched
}

func TestOddNamesAreRefused(t *testing.T) {
	r := openRoot(t)
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "/", `a\b`, "a\x00b", ".hidden"} {
		source := &api.VolumeSource{EmptyDir: &api.EmptyDir{}}
		_, nameErr := CreateVolume(&api.Volume{Name: bad, Source: source}, testPod("default", "uid"), r)
		_, uidErr := CreateVolume(&api.Volume{Name: "good", Source: source}, testPod("default", bad), r)
		claim := &api.VolumeSource{Claim: &api.Claim{Name: bad}}
		_, claimErr := CreateVolume(&api.Volume{Name: "good", Source: claim}, testPod("default", "uid"), r)
		claim.Claim.Name = "good"
		_, namespaceErr := CreateVolume(&api.Volume{Name: "good", Source: claim}, testPod(bad, "uid"), r)
		for _, err := range []error{nameErr, uidErr, claimErr, namespaceErr, r.MoveToTrash(bad)} {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%q: got error %v", bad, err)
			}
		}
	}
}

func TestClaim(t *testing.T) {
	r := openRoot(t)
	vol := claim(t, r)
	if claims, err := r.Claims(); len(claims) > 0 || err != nil {
		t.Errorf("claims of a new root_dir: %v, %v", claims, err)
	}
	unittest.Must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	unittest.Must(t, os.Chmod(vol.GetPath(), 0o700)) // as a database does with its directory
	unittest.Must(t, vol.SetUp())                    // as the next pod does
	unittest.Must(t, r.MoveToTrash("uid"))
	unittest.Must(t, r.EmptyTrash(t.Context()))

	wantText(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	if claims, err := r.Claims(); len(claims) != 1 || claims[0] != filepath.Join(r.Path(), "claims/shop/data") || err != nil {
		t.Errorf("claims: %v, %v", claims, err)
	}
	if info, err := os.Stat(vol.GetPath()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
}

func TestSetUp(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077)) // the mode of a volume does not depend on it
	r := openRoot(t)
	vol := emptyDir(t, r, "uid")
	unittest.Must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	unittest.Must(t, os.Chmod(vol.GetPath(), 0o700)) // as a database does with its directory

	unittest.Must(t, vol.SetUp()) // keeps data and mode
	wantText(t, filepath.Join(vol.GetPath(), "a/b"), "data")
	wantMode(t, vol.GetPath(), fs.ModeDir|0o700)

	unittest.Must(t, os.RemoveAll(vol.GetPath()))
	unittest.Must(t, os.Mkdir(vol.GetPath(), 0)) // as a crash in SetUp leaves it
	unittest.Must(t, vol.SetUp())
	wantMode(t, vol.GetPath(), fs.ModeDir|0o777)

	unittest.Must(t, os.Remove(vol.GetPath()))
	write(t, vol.GetPath(), "a file")
	unittest.Says(t, vol.SetUp(), vol.GetPath(), "remove it")
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
			unittest.Must(t, r.EmptyTrash(t.Context())) // makes the trash
			setUp(t, r, "other")
			target, link := filepath.Join(r.Path(), where), filepath.Join(r.Path(), level)
			if where != "nowhere" {
				for _, dir := range []string{"uid/" + emptyDirs + "/vol", emptyDirs + "/vol", "kubernetes.io~empty-dir/vol", "vol", ""} {
					write(t, filepath.Join(target, dir, "file"), "data")
				}
			}
			before := tree(target)
			name, err := filepath.Rel(filepath.Dir(link), target)
			unittest.Must(t, err, os.RemoveAll(link), os.MkdirAll(filepath.Dir(link), 0o750), os.Symlink(name, link))

			vol := emptyDir(t, r, "uid")
			_, messageErr := r.MakeTerminationFile("uid", "web.1")
			_, listErr := r.PodUIDs()
			err = errors.Join(vol.SetUp(), messageErr, listErr, r.MoveToTrash("other"), r.EmptyTrash(t.Context()))

			if level != "trash/uid.0" { // which is deleted, as a link
				unittest.Says(t, err, link+`" is not a directory`, "remove it")
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
		unittest.Must(t, r.RemoveTerminationFile("uid", "web.1"))
		wantMessage("uid", "web.1", 100, "")
	}
}

// What a link leads to and a hole in a file are no use of the disk. What a container writes as its termination message is.
func TestUsage(t *testing.T) {
	const all = 1 << 20
	r := openRoot(t)
	dir := setUp(t, r, "uid") // which has a file of a few bytes
	write(t, filepath.Join(t.TempDir(), "outside"), strings.Repeat("x", 1<<20))
	unittest.Must(t, os.Symlink(filepath.Dir(dir), filepath.Join(dir, "link")))
	sparse := filepath.Join(dir, "deep/er/sparse")
	write(t, sparse, strings.Repeat("x", 8192))
	unittest.Must(t, os.Truncate(sparse, 1<<30))
	setUp(t, r, "another")
	message, err := r.MakeTerminationFile("uid", "web.1")
	unittest.Must(t, err)
	if u := r.Usage(t.Context(), "uid", all); u.Bytes < 8192 || u.Bytes > 64<<10 || u.Files != 5 || u.AtLeast {
		t.Errorf("%+v, want some 12 KiB and 5 files", u)
	}
	write(t, message, strings.Repeat("x", 1<<20))
	if u := r.Usage(t.Context(), "uid", all); u.Bytes < 1<<20 || u.Files != 5 {
		t.Errorf("%+v, want more than a message of 1 MiB", u)
	}
	unittest.Must(t, os.Remove(filepath.Join(setUp(t, r, "empty"), "file")))
	for _, uid := range []string{"none", "empty"} {
		if u := r.Usage(t.Context(), uid, all); u != (Usage{}) {
			t.Errorf("a pod with %s in its volumes uses %+v", uid, u)
		}
	}
}

// A container can nest directories as deep as it likes. Each must cost the same however deep it lies.
func TestUsageOfAHostileTree(t *testing.T) {
	const depth = 1000
	r := openRoot(t)
	dir := setUp(t, r, "uid")
	t.Cleanup(func() { unittest.Must(t, exec.Command("rm", "-rf", r.Path()).Run()) })
	fd, err := syscall.Open(dir, syscall.O_DIRECTORY, 0)
	unittest.Must(t, err)
	for range depth {
		unittest.Must(t, syscall.Mkdirat(fd, "d", 0o755))
		below, err := syscall.Openat(fd, "d", syscall.O_DIRECTORY, 0)
		unittest.Must(t, err, syscall.Close(fd))
		fd = below
	}
	unittest.Must(t, syscall.Close(fd))
	ended, end := context.WithCancel(t.Context())
	end()
	for _, tt := range []struct {
		name     string
		ctx      context.Context
		maxFiles int64
		want     int64 // files
		atLeast  bool
	}{
		{"all of it", t.Context(), 1 << 20, depth + 1, false},
		{"so many files and no more", t.Context(), 100, 100, true},
		{"no time", ended, 1 << 20, 0, true},
	} {
		if u := r.Usage(tt.ctx, "uid", tt.maxFiles); u.Files != tt.want || u.AtLeast != tt.atLeast {
			t.Errorf("%s: %+v, want %d files, and maybe more: %v", tt.name, u, tt.want, tt.atLeast)
		}
	}
	if n := testing.AllocsPerRun(1, func() { r.Usage(t.Context(), "uid", 1<<20) }) / depth; n > 50 { // the other cost is hidden in the kernel
		t.Errorf("%v allocations for each of %d nested directories", n, depth)
	}
	for level := dir; len(level) < len(dir)+4*maxOpenDirs; level += "/d" { // of three directories the deep one mostly is not visited last
		unittest.Must(t, os.Mkdir(level+"/e", 0o755), os.Mkdir(level+"/f", 0o755))
	}
	if u := r.Usage(t.Context(), "uid", 1<<20); !u.AtLeast || u.Files < maxOpenDirs {
		t.Errorf("a broad tree: %+v, want at least %d files", u, maxOpenDirs)
	}
}
