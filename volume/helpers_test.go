package volume

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api"
)

const emptyDirs = "volumes/kubernetes.io~empty-dir"

func openRoot(t *testing.T) *RootDir {
	t.Helper()
	r, err := OpenRootDir(filepath.Join(t.TempDir(), "root"))
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// emptyDir returns the emptyDir volume "vol" of a pod, which is not set up.
func emptyDir(t *testing.T, r *RootDir, uid string) Interface {
	t.Helper()
	vol, err := CreateVolume(&api.Volume{Name: "vol", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}, uid, r)
	must(t, err)
	return vol
}

// setUp makes an emptyDir volume with one file in it, and returns its path.
func setUp(t *testing.T, r *RootDir, uid string) string {
	t.Helper()
	vol := emptyDir(t, r, uid)
	must(t, vol.SetUp())
	write(t, filepath.Join(vol.GetPath(), "file"), "data of "+uid)
	return vol.GetPath()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
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

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not contain %q:\n%v", part, err)
		}
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
