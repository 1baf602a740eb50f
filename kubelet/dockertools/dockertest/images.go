package dockertest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/distribution/reference"

	"kubelet14/kubelet/dockertools"
)

type fakeImage struct {
	id         string
	hasCommand bool
	program    func(dockertools.ContainerSpec) Program // nil: the zero Program
}

func (f *Fake) InspectImage(ctx context.Context, image string) (string, error) {
	return ask(ctx, f, "InspectImage", image, func() (string, error) {
		if found := f.images[imageName(image)]; found != nil {
			return found.id, nil
		}
		return "", fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, image)
	})
}

// ImportImage makes an image without a command of its own, whose programs run
// until they are stopped.
func (f *Fake) ImportImage(ctx context.Context, image string, tar io.Reader) error {
	return f.call(ctx, "ImportImage", image, func(context.Context) error {
		if _, err := io.Copy(io.Discard, tar); err != nil {
			return err
		}
		f.addImage(image, &fakeImage{})
		return nil
	})
}

// AddImage makes an image that has a command of its own. program is asked at
// each start what the process does, and may go by the command; it must not call
// the Fake. nil stands for the zero Program.
func (d *fakeDocker) AddImage(name string, program func(dockertools.ContainerSpec) Program) {
	d.addImage(name, &fakeImage{hasCommand: true, program: program})
}

func (d *fakeDocker) addImage(name string, image *fakeImage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image.id = "sha256:" + d.newID()
	d.images[imageName(name)] = image
}

// RemoveImage is `docker rmi -f`.
func (d *fakeDocker) RemoveImage(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.images, imageName(name))
}

// imageName is the name Docker keeps an image under: busybox is busybox:latest,
// and beside a digest a tag means nothing.
func imageName(name string) string {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return name
	}
	if digested, ok := named.(reference.Digested); ok {
		return named.Name() + "@" + digested.Digest().String()
	}
	return reference.TagNameOnly(named).String()
}

// RemoteImage is an image that a registry has.
type RemoteImage struct {
	Program func(dockertools.ContainerSpec) Program // as of AddImage
	Auth    dockertools.Auth                        // who gets it, wherever the credentials are for; the zero Auth means everybody
	Takes   time.Duration                           // to pull it
}

type remoteImage struct {
	RemoteImage
	image *fakeImage // what a pull makes
}

// lets reports whether the credentials suffice for a pull. A registry does not
// hear for which one they are meant.
func (r *remoteImage) lets(auth dockertools.Auth) bool {
	want := r.Auth
	want.ServerAddress, auth.ServerAddress = "", ""
	return want == dockertools.Auth{} || want == auth
}

// A pull fetches its image in so many steps, each of so many bytes.
const (
	fakePullSteps = 10
	fakePullBytes = 1 << 20
)

// AddRemoteImage puts an image in its registry. Put there again, it is a new one,
// with a new id, and a pull fetches it again.
func (d *fakeDocker) AddRemoteImage(name string, remote RemoteImage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := &fakeImage{id: "sha256:" + d.newID(), hasCommand: true, program: remote.Program}
	d.remote[imageName(name)] = &remoteImage{remote, image}
}

// PullImage is over at once, without progress, when the image is there and still
// the same.
func (f *Fake) PullImage(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error {
	return f.call(ctx, "PullImage", image, func(ctx context.Context) error {
		f.mu.Lock()
		remote, local := f.remote[imageName(image)], f.images[imageName(image)]
		f.mu.Unlock()
		switch {
		case remote == nil:
			return fmt.Errorf("%w: manifest unknown", dockertools.ErrImageNotFound)
		case !remote.lets(auth):
			return fmt.Errorf("%w: unauthorized", dockertools.ErrUnauthorised)
		case remote.image == local:
			return nil
		}
		for step := 0; ; step++ {
			progress(dockertools.PullProgress{
				Layers: 2, LayersDone: 2 * step / fakePullSteps,
				Bytes: int64(step) * fakePullBytes, TotalBytes: fakePullSteps * fakePullBytes,
			})
			if step == fakePullSteps {
				break
			}
			select {
			case <-time.After(remote.Takes / fakePullSteps):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.images[imageName(image)] = remote.image
		return nil
	})
}
