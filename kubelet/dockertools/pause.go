package dockertools

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
)

// PauseImage is the built-in image of the network container: it is made here and
// imported, and no registry ever sees it. 2014 pulled kubernetes/pause:latest.
const PauseImage = "kubelet14/pause:1"

// pausePath is where the image has its only file.
const pausePath = "/pause"

// PauseCommand is the entrypoint of a container made of PauseImage, for an
// imported image has none. The program handles no signal, and Linux keeps every
// signal but SIGKILL from a first process that does not handle it, so SIGKILL is
// also the container's stop signal.
func PauseCommand() []string {
	return []string{pausePath}
}

// EnsurePauseImage makes PauseImage when it is missing. Of two callers at once
// both may make it; the one that comes first then loses its name to the other
// and works as well.
func EnsurePauseImage(ctx context.Context, docker Interface) error {
	if _, err := docker.InspectImage(ctx, PauseImage); !errors.Is(err, ErrNoSuchImage) {
		return err
	}
	// The daemon may be on another machine: its architecture counts, not ours.
	daemon, err := docker.Version(ctx)
	if err != nil {
		return err
	}
	layer, err := pauseLayer(daemon.OS, daemon.Arch)
	if err != nil {
		return fmt.Errorf("make image %q: %w", PauseImage, err)
	}
	return docker.ImportImage(ctx, PauseImage, bytes.NewReader(layer))
}

// pauseLayer is the tar of the image's only layer.
func pauseLayer(os, arch string) ([]byte, error) {
	program, err := pauseProgram(os, arch)
	if err != nil {
		return nil, err
	}
	return Layer(program, tar.Header{Name: pausePath[1:], Mode: 0o555, Size: int64(len(program))})
}

// Layer is the tar of an image's layer with these files, of which the last one
// has content.
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
