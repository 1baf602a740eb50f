package dockertools

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

// imageStore is a Docker that records its imports.
type imageStore struct {
	Interface
	arch   string
	layers [][]byte
}

func (s *imageStore) Info(context.Context) (Info, error) {
	return Info{OS: "linux", Arch: s.arch}, nil
}

func (s *imageStore) InspectImage(context.Context, string) (id, user string, err error) {
	if len(s.layers) == 0 {
		return "", "", ErrNoSuchImage
	}
	return "sha256:0123", "", nil
}

func (s *imageStore) ImportImage(_ context.Context, _ string, tar io.Reader) error {
	layer, err := io.ReadAll(tar)
	s.layers = append(s.layers, layer)
	return err
}

// The digests never change, so an upgrade finds the image and its containers unchanged. Their programs were seen to
// sleep until they are killed; the test with the tag qemu runs that for arm64.
func TestPauseImageIsMadeOnceForTheDaemonsMachine(t *testing.T) {
	for arch, want := range map[string]string{
		"amd64": "05e7d1284b07c8f5b965b944d02d75c3f92b72cf9f8b6edfe61efccc56abb16b",
		"arm64": "f007739cd5f744d53f055482b298ea17baa06993161798faba35d10319f23076",
	} {
		daemon := &imageStore{arch: arch}
		unittest.Must(t, EnsureBuiltin(t.Context(), daemon, PauseImage), EnsureBuiltin(t.Context(), daemon, PauseImage))
		if len(daemon.layers) != 1 || fmt.Sprintf("%x", sha256.Sum256(daemon.layers[0])) != want {
			t.Errorf("%s: imported %d layers, the first with digest %x; want 1 with %s", arch, len(daemon.layers), sha256.Sum256(daemon.layers[0]), want)
		}
	}
	unittest.Says(t, EnsureBuiltin(t.Context(), &imageStore{arch: "riscv64"}, PauseImage), "linux/riscv64", "-network_container_image")
}

// The image holds this test program and its loader, if there is one, under the name that the program's file gives. For
// a Docker on another machine an error says what to do.
func TestHelloImageIsThisProgram(t *testing.T) {
	daemon := &imageStore{arch: runtime.GOARCH}
	unittest.Must(t, EnsureBuiltin(t.Context(), daemon, HelloImage))
	files := map[string][]byte{}
	layer := tar.NewReader(bytes.NewReader(daemon.layers[0]))
	for header, err := layer.Next(); err != io.EOF; header, err = layer.Next() {
		content, readErr := io.ReadAll(layer)
		unittest.Must(t, err, readErr)
		files[header.Name] = content
	}
	itself, err := os.ReadFile(self)
	program, elfErr := elf.NewFile(bytes.NewReader(itself))
	unittest.Must(t, err, elfErr)
	want := map[string][]byte{"tmp/": {}, "hello": itself}
	if loader := program.Section(".interp"); loader != nil {
		path, _ := loader.Data()
		name := strings.TrimRight(string(path), "\x00")
		want[name[1:]], err = os.ReadFile(name)
		want[filepath.Dir(name)[1:]+"/"] = nil
	} else if len(files) > len(want) {
		t.Errorf("a static program needs no more than itself: %v", slices.Collect(maps.Keys(files)))
	}
	for name, content := range want {
		if got, has := files[name]; !has || !bytes.Equal(got, content) || err != nil {
			t.Errorf("%s: the image has it: %v, with %d bytes, want %d: %v", name, has, len(got), len(content), err)
		}
	}

	unittest.Says(t, EnsureBuiltin(t.Context(), &imageStore{arch: "riscv64"}, HelloImage), "Docker runs on linux/riscv64", "GOARCH=riscv64 go build")
}
