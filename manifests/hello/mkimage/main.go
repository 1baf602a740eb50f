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
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"kubelet14/kubelet/dockertools"
)

const program = "kubelet14/manifests/hello"

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
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	docker, err := dockertools.NewClient(endpoint)
	if err != nil {
		return err
	}
	daemon, err := docker.Version(ctx)
	if err != nil {
		return err
	}
	binary, err := build(ctx, daemon.Arch)
	if err != nil {
		return err
	}
	files, err := pack(binary)
	if err != nil {
		return err
	}
	imported, err := docker.EnsureImage(ctx, image, files)
	if err != nil {
		return err
	}
	if imported {
		fmt.Printf("image %s: made for %s\n", image, daemon.Arch)
	} else {
		fmt.Printf("image %s: up to date\n", image)
	}
	return nil
}

// lock lets one mkimage work at a time: of two that find no image both would
// import one, and one would be left without a name. It locks the directory of
// the program's source, so no lock file is left behind.
func lock() (unlock func(), err error) {
	dir, err := golang(exec.Command("go", "list", "-f", "{{.Dir}}", program))
	if err != nil {
		return nil, err
	}
	held, err := os.Open(strings.TrimSpace(dir))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		held.Close()
		return nil, fmt.Errorf("lock %q: %w", held.Name(), err)
	}
	return func() { held.Close() }, nil
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
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", out, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if _, err := golang(cmd); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// golang runs the go command and gives what it prints.
func golang(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, stderr.String())
	}
	return stdout.String(), nil
}

// pack makes the image's one layer: the program, and a /tmp anyone may write to.
// No file has a time, so the same program gives the same layer.
func pack(binary []byte) ([]byte, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return nil, err
	}
	if err := w.WriteHeader(&tar.Header{Name: "hello", Mode: 0o755, Size: int64(len(binary))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(binary); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return layer.Bytes(), nil
}
