package dockertools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
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

func (s *imageStore) InspectImage(context.Context, string) (string, error) {
	if len(s.layers) == 0 {
		return "", ErrNoSuchImage
	}
	return "sha256:0123", nil
}

func (s *imageStore) ImportImage(_ context.Context, _ string, tar io.Reader) error {
	layer, err := io.ReadAll(tar)
	s.layers = append(s.layers, layer)
	return err
}

// The digests are those of every version: an upgrade finds the image and its
// containers unchanged. They stand for programs that were seen to sleep until they
// are killed; that for arm64 is run by the test with the tag qemu.
func TestPauseImageIsMadeOnceForTheDaemonsMachine(t *testing.T) {
	for arch, want := range map[string]string{
		"amd64": "05e7d1284b07c8f5b965b944d02d75c3f92b72cf9f8b6edfe61efccc56abb16b",
		"arm64": "f007739cd5f744d53f055482b298ea17baa06993161798faba35d10319f23076",
	} {
		daemon := &imageStore{arch: arch}
		if err := errors.Join(EnsurePauseImage(t.Context(), daemon), EnsurePauseImage(t.Context(), daemon)); err != nil {
			t.Fatal(err)
		}
		if len(daemon.layers) != 1 || fmt.Sprintf("%x", sha256.Sum256(daemon.layers[0])) != want {
			t.Errorf("%s: imported %d layers, the first with digest %x; want 1 with %s", arch, len(daemon.layers), sha256.Sum256(daemon.layers[0]), want)
		}
	}
	err := EnsurePauseImage(t.Context(), &imageStore{arch: "riscv64"})
	if err == nil || !strings.Contains(err.Error(), "linux/riscv64") || !strings.Contains(err.Error(), "-network_container_image") {
		t.Errorf("got %v, want an error that names the machine and the way out", err)
	}
}
