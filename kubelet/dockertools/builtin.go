package dockertools

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing/fstest"
)

// The built-in images are built here and imported, not pulled: anybody could publish a program under these names in a
// registry.
const (
	PauseImage = "kubelet14/pause:1" // of the network container; 2014 pulled kubernetes/pause:latest
	HelloImage = "kubelet14/hello:1" // of the demo; it needs a new tag when manifests/ uses features that older programs lack
)

// builtin maps each built-in image to the function that returns its files, in memory, for a Docker.
var builtin = map[string]func(Info) (fstest.MapFS, error){PauseImage: pauseFiles, HelloImage: helloFiles}

// IsBuiltin reports whether an image is built in. Such an image is never pulled.
func IsBuiltin(image string) bool { return builtin[image] != nil }

// EnsureBuiltin imports a built-in image if Docker does not have it. An existing image is used even if an older kubelet
// made it. Two callers at once may both import it; either image works.
func EnsureBuiltin(ctx context.Context, docker Interface, image string) error {
	if _, _, err := docker.InspectImage(ctx, image); !errors.Is(err, ErrNoSuchImage) {
		return err
	}
	daemon, err := docker.Info(ctx) // Docker may run on another machine
	if err != nil {
		return err
	}
	files, err := builtin[image](daemon)
	if err != nil {
		return fmt.Errorf("build image %q: %w", image, err)
	}
	layer, w := io.Pipe()
	var writing sync.WaitGroup
	defer writing.Wait()
	defer layer.Close()
	writing.Go(func() { w.CloseWithError(WriteLayer(w, files)) })
	return docker.ImportImage(ctx, image, layer)
}

// WriteLayer writes the tar of an image layer with the given files and their directories.
// No file has a time, so equal files give equal layers.
func WriteLayer(w io.Writer, files fstest.MapFS) error {
	layer := tar.NewWriter(w)
	return cmp.Or(layer.AddFS(files), layer.Close())
}
