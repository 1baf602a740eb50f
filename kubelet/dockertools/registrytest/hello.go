package registrytest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing/fstest"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// EnsureHello gives Docker the image dockertools.HelloImage with the demo's program of this
// source and nothing else. A kubelet would make it of itself, with four times the size, and
// would use an older one. An image of that name with other files is replaced; it stays
// without a name if containers use it.
func EnsureHello(client *docker.Client) error {
	// Tests of several packages run at once: of two that find no image both would import
	// one, and one would be left without a name. A directory that everybody has is the lock.
	tmp, err := os.Open(os.TempDir())
	if err != nil {
		return err
	}
	defer tmp.Close()
	if err := syscall.Flock(int(tmp.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %q: %w", tmp.Name(), err)
	}
	program, err := helloProgram()
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	if err := dockertools.WriteLayer(&layer, fstest.MapFS{"tmp": {Mode: fs.ModeDir | fs.ModeSticky | 0o777}, "hello": program}); err != nil {
		return err
	}
	old, err := client.InspectImage(dockertools.HelloImage)
	if err != nil && !errors.Is(err, docker.ErrNoSuchImage) {
		return err
	}
	// Docker knows an image's layers by the digest of their tar.
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))
	if old != nil && old.RootFS != nil && slices.Equal(old.RootFS.Layers, []string{digest}) {
		return nil
	}
	name, tag := docker.ParseRepositoryTag(dockertools.HelloImage)
	err = client.ImportImage(docker.ImportImageOptions{Repository: name, Tag: tag, Source: "-", InputStream: &layer, OutputStream: io.Discard})
	if err == nil && old != nil && len(old.RepoTags) <= 1 {
		_ = client.RemoveImage(old.ID) // Docker refuses when a container needs it
	}
	return err
}

// helloProgram builds the demo's program, once, static and the same byte for byte wherever
// it is built.
var helloProgram = sync.OnceValues(func() (*fstest.MapFile, error) {
	file := &fstest.MapFile{Mode: 0o755}
	dir, err := os.MkdirTemp("", "registrytest-")
	if err != nil {
		return file, err
	}
	defer os.RemoveAll(dir)
	root, err := unittest.Root()
	if err != nil {
		return file, err
	}
	program := filepath.Join(dir, "hello")
	build := exec.Command("go", "build", "-C", root, "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", program,
		"./kubelet/dockertools/registrytest/testdata/hello")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if output, err := build.CombinedOutput(); err != nil {
		return file, fmt.Errorf("build hello: %w\n%s", err, output)
	}
	file.Data, err = os.ReadFile(program)
	return file, err
})
