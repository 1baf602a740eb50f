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

// openRoot gives a RootDir of its own to the test.
func openRoot(t *testing.T) *RootDir {
	t.Helper()
	r, err := OpenRootDir(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// emptyDir gives an emptyDir volume; SetUp is the caller's.
func emptyDir(t *testing.T, r *RootDir, uid, name string) Interface {
	t.Helper()
	v := &api.Volume{Name: name, Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}
	vol, err := CreateVolume(v, uid, r)
	if err != nil {
		t.Fatal(err)
	}
	return vol
}

// setUp gives an emptyDir volume that is there.
func setUp(t *testing.T, r *RootDir, uid, name string) string {
	t.Helper()
	vol := emptyDir(t, r, uid, name)
	must(t, vol.SetUp())
	return vol.GetPath()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a file and the directories above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (error %v), want %q", path, got, err, want)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Error(err)
	} else if info.Mode() != want {
		t.Errorf("mode of %s is %v, want %v", path, info.Mode(), want)
	}
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: got %v, want it to be gone; what is left:\n%s", path, err, tree(path))
	}
}

// wantError checks that an error says all that its reader needs.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not say %q:\n%v", part, err)
		}
	}
}

// tree lists all below dir, for a failed test to print.
func tree(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			b.WriteString(err.Error() + "\n")
			return nil
		}
		b.WriteString(d.Type().String() + " " + path + "\n")
		return nil
	})
	return b.String()
}

// childEnv is set in a process that again started; its value is the test's to use.
const childEnv = "KUBELET14_VOLUME_TEST"

// again is this test binary, to run the calling test alone, with childEnv set to
// arg and under attr. It goes by /proc, as another user may not see the file.
func again(t *testing.T, arg string, attr *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+arg)
	cmd.SysProcAttr = attr
	return cmd
}
