package dockertools

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
)

// PauseImage is the built-in image of the network container. It is made here and
// imported, and comes from no registry. 2014 pulled kubernetes/pause:latest.
const PauseImage = "kubelet14/pause:1"

// PauseCommand is the entrypoint for PauseImage, since an imported image has none. As
// the first process in its container, the program gets no signal but SIGKILL, so that
// must be the container's stop signal.
func PauseCommand() []string { return []string{"/pause"} }

// EnsurePauseImage makes PauseImage when Docker does not have it. Two callers at once
// may both make it; either image works.
func EnsurePauseImage(ctx context.Context, docker Interface) error {
	if _, err := docker.InspectImage(ctx, PauseImage); !errors.Is(err, ErrNoSuchImage) {
		return err
	}
	daemon, err := docker.Info(ctx) // it may run on another machine
	if err != nil {
		return err
	}
	program, err := pauseProgram(daemon.OS, daemon.Arch)
	if err != nil {
		return fmt.Errorf("make image %q: %w", PauseImage, err)
	}
	layer, err := Layer(program, tar.Header{Name: "pause", Mode: 0o555, Size: int64(len(program))})
	if err != nil {
		return fmt.Errorf("make image %q: %w", PauseImage, err)
	}
	return docker.ImportImage(ctx, PauseImage, bytes.NewReader(layer))
}

// Layer returns the tar of an image layer with these files; the last has content.
func Layer(content []byte, files ...tar.Header) ([]byte, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, file := range files {
		if err := w.WriteHeader(&file); err != nil {
			return nil, err
		}
	}
	_, err := w.Write(content)
	err = errors.Join(err, w.Close())
	return layer.Bytes(), err
}
