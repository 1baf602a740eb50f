package etcdtest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"kubelet14/api/unittest"
)

var programs = []string{"go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/etcdctl/v3", "go.etcd.io/etcd/etcdutl/v3"}

// binaries returns the directory of etcd, etcdctl and etcdutl. The first test of a version
// builds them, which takes a minute; every other one finds them.
var binaries = sync.OnceValues(func() (string, error) {
	root, err := unittest.Root()
	if err != nil {
		return "", err
	}
	module := filepath.Join(root, "config/testdata/etcd") // names the version
	key := sha256.New()
	fmt.Fprint(key, programs)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		key.Write(data)
	}
	cache, err := os.UserCacheDir()
	if err != nil { // no home directory
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "kubelet14-etcd", fmt.Sprintf("%.8x-%s", key.Sum(nil), runtime.GOARCH))
	return dir, buildOnce(module, dir)
})

// buildOnce builds into dir unless that is there. Tests of several packages may do
// so at once: all but one wait, and dir appears when it is whole.
func buildOnce(module, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	build := exec.Command("go", append([]string{"build", "-o", temp + "/"}, programs...)...)
	build.Dir = module
	// The flags of who runs the tests, such as -race or -mod=mod, are not for it.
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build etcd in %s: %w\n%s", module, err, output)
	}
	if err := os.Rename(filepath.Join(temp, "server"), filepath.Join(temp, "etcd")); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}
