package dockertools

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// The built-in images are made here and imported. They come from no registry, where
// anybody could put a program under such a name.
const (
	PauseImage = "kubelet14/pause:1" // of the network container; 2014 pulled kubernetes/pause:latest
	HelloImage = "kubelet14/hello:1" // of the demo; a new tag when manifests/ needs what an older program cannot do
)

// builtin has, for each built-in image, the function that returns its files for a Docker.
var builtin = map[string]func(Info) ([]File, error){PauseImage: pauseFiles, HelloImage: helloFiles}

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
	writing.Go(func() { w.CloseWithError(WriteLayer(w, files...)) })
	return docker.ImportImage(ctx, image, layer)
}

// File is a file of an image, or a directory.
type File struct {
	Name    string // without a slash at the start; a directory's ends with one
	Mode    int64
	Content []byte
}

// WriteLayer writes the tar of an image layer with these files, and the directories that
// they are in. No file has a time, so the same files give the same layer.
func WriteLayer(w io.Writer, files ...File) error {
	layer, made := tar.NewWriter(w), map[string]bool{}
	write := func(f File) error {
		err := layer.WriteHeader(&tar.Header{Name: f.Name, Mode: f.Mode, Size: int64(len(f.Content))})
		if err == nil {
			_, err = layer.Write(f.Content)
		}
		return err
	}
	for _, file := range files {
		for i := range file.Name {
			dir := file.Name[:i+1]
			if !strings.HasSuffix(dir, "/") || dir == file.Name || made[dir] {
				continue
			}
			made[dir] = true // Docker would make it for root alone
			if err := write(File{Name: dir, Mode: 0o755}); err != nil {
				return err
			}
		}
		if err := write(file); err != nil {
			return err
		}
	}
	return layer.Close()
}
