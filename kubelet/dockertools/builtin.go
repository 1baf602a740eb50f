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

// The built-in images are made here and imported. They come from no registry, where
// anybody could put a program under such a name.
const (
	PauseImage = "kubelet14/pause:1" // of the network container; 2014 pulled kubernetes/pause:latest
	HelloImage = "kubelet14/hello:1" // of the demo; a new tag when manifests/ needs what an older program cannot do
)

// builtin has, for each built-in image, the function that returns its files for a Docker, in memory.
var builtin = map[string]func(Info) (fstest.MapFS, error){PauseImage: pauseFiles, HelloImage: helloFiles}

// IsBuiltin reports whether an image is built in. Such an image is never pulled.
func IsBuiltin(image string) bool { return builtin[image] != nil }

// EnsureBuiltin makes a built-in image when Docker does not have it. One that is there is
// used, also if an older kubelet has made it. Two callers at once may both make it; either
// image works.
func EnsureBuiltin(ctx context.Context, docker Interface, image string) error {
	if _, err := docker.InspectImage(ctx, image); !errors.Is(err, ErrNoSuchImage) {
		return err
	}
	daemon, err := docker.Info(ctx) // it may run on another machine
	if err != nil {
		return err
	}
	files, err := builtin[image](daemon)
	if err != nil {
		return fmt.Errorf("make image %q: %w", image, err)
	}
	layer, w := io.Pipe()
	var writing sync.WaitGroup
	defer writing.Wait()
	defer layer.Close()
	writing.Go(func() { w.CloseWithError(WriteLayer(w, files)) })
	return docker.ImportImage(ctx, image, layer)
}

// WriteLayer writes the tar of an image layer with these files, and the directories that
// they are in. No file has a time, so the same files give the same layer.
func WriteLayer(w io.Writer, files fstest.MapFS) error {
	layer := tar.NewWriter(w)
	return cmp.Or(layer.AddFS(files), layer.Close())
}
