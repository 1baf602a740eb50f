// Mkimage builds the demo image out of the program in manifests/hello and imports
// it into Docker. It needs the go command and a Docker daemon, and no docker
// command, C compiler or registry. It works from any directory of the module:
//
//	go run ./manifests/hello/mkimage
//
// The build is reproducible, so when Docker already has the image with the same
// files it does nothing.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

func main() {
	endpoint := flag.String("docker_endpoint", "", "where Docker listens; empty means $DOCKER_HOST, else the local socket")
	image := flag.String("image", "kubelet14/hello:1", "name and tag of the image")
	flag.Parse()
	if err := run(*endpoint, *image); err != nil {
		fmt.Fprintln(os.Stderr, "mkimage:", err)
		os.Exit(1)
	}
}

func run(endpoint, image string) error {
	// One mkimage works at a time: of two that find no image both would import one,
	// and one would be left without a name. The lock is on a directory that
	// everybody has, so no lock file is left behind.
	tmp, err := os.Open(os.TempDir())
	if err != nil {
		return err
	}
	defer tmp.Close()
	if err := syscall.Flock(int(tmp.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %q: %w", tmp.Name(), err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	api, err := docker.NewClientFromEnv()
	if endpoint != "" {
		api, err = docker.NewClient(endpoint)
	}
	if err != nil {
		return err
	}
	daemon, err := api.VersionWithContext(ctx)
	if err != nil {
		return err
	}
	arch := strings.NewReplacer("x86_64", "amd64", "aarch64", "arm64").Replace(daemon.Get("Arch"))
	binary, err := build(ctx, arch)
	if err != nil {
		return err
	}
	// No file has a time, so the same program gives the same layer.
	layer, err := dockertools.Layer(binary,
		tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, // anyone may write to it
		tar.Header{Name: "hello", Mode: 0o755, Size: int64(len(binary))})
	if err != nil {
		return err
	}
	imported, err := ensureImage(ctx, api, image, layer)
	if err != nil {
		return err
	}
	if imported {
		fmt.Printf("image %s: made for %s\n", image, arch)
	} else {
		fmt.Printf("image %s: up to date\n", image)
	}
	return nil
}

// ensureImage gives the image exactly the files of a tar, and reports whether it had
// others: Docker knows an image's layers by the digest of their tar. The image that
// had the name before is removed, unless it has another name or a container.
func ensureImage(ctx context.Context, api *docker.Client, image string, layer []byte) (imported bool, err error) {
	old, err := api.InspectImage(image)
	if err != nil && !errors.Is(err, docker.ErrNoSuchImage) {
		return false, err
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(layer))
	if old != nil && old.RootFS != nil && slices.Equal(old.RootFS.Layers, []string{digest}) {
		return false, nil
	}
	name, tag := docker.ParseRepositoryTag(image)
	err = api.ImportImage(docker.ImportImageOptions{
		Repository: name, Tag: tag, Source: "-", InputStream: bytes.NewReader(layer), OutputStream: io.Discard, Context: ctx,
	})
	if err == nil && old != nil && len(old.RepoTags) <= 1 {
		_ = api.RemoveImageExtended(old.ID, docker.RemoveImageOptions{Context: ctx}) // Docker refuses when a container needs it
	}
	return err == nil, err
}

// build compiles the program, static and the same byte for byte wherever it is
// built.
func build(ctx context.Context, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "mkimage")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "hello")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", out, "kubelet14/manifests/hello")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, said)
	}
	return os.ReadFile(out)
}
