package dockertest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
)

type fakeImage struct {
	id         string
	layers     []string
	created    time.Time
	pulled     bool // and neither built nor imported
	hasCommand bool
	user       string                                  // empty: root
	program    func(dockertools.ContainerSpec) Program // nil: the zero Program
}

func (f *Fake) InspectImage(ctx context.Context, image string) (id, user string, err error) {
	found, err := ask(ctx, f, "InspectImage", image, func() (*fakeImage, error) {
		if found := f.images[dockertools.ImageName(image)]; found != nil {
			return found, nil
		}
		return &fakeImage{}, fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, image)
	})
	if err != nil {
		return "", "", err
	}
	return found.id, found.user, nil
}

// SetImageUser sets the user that the programs of an image run as.
func (f *Fake) SetImageUser(image, user string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images[dockertools.ImageName(image)].user = user
}

func (f *Fake) ImageLayers(ctx context.Context, image string) ([]string, error) {
	return ask(ctx, f, "ImageLayers", image, func() ([]string, error) {
		for name, found := range f.images {
			if found.id == image || name == dockertools.ImageName(image) {
				return found.layers, nil
			}
		}
		return nil, fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, image)
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
	image.id, image.created = "sha256:"+d.newID(), d.now()
	if image.layers == nil {
		image.layers = []string{image.id}
	}
	d.images[dockertools.ImageName(name)] = image
}

// ForceRemoveImage is `docker rmi -f`.
func (d *fakeDocker) ForceRemoveImage(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.images, dockertools.ImageName(name))
}

// TagImage is `docker tag`.
func (d *fakeDocker) TagImage(name, another string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := d.images[dockertools.ImageName(name)]
	if image == nil {
		return fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, name)
	}
	d.images[dockertools.ImageName(another)] = image
	return nil
}

// BuildImage is `docker build` of a file that adds no more to another image than a label.
func (d *fakeDocker) BuildImage(name, base string) error {
	d.mu.Lock()
	on := d.images[dockertools.ImageName(base)]
	d.mu.Unlock()
	if on == nil {
		return fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, base)
	}
	d.addImage(name, &fakeImage{layers: on.layers, hasCommand: on.hasCommand, program: on.program})
	return nil
}

func (f *Fake) ListImages(ctx context.Context) ([]dockertools.Image, error) {
	return ask(ctx, f, "ListImages", "", func() (list []dockertools.Image, err error) {
		byID := map[string]*dockertools.Image{}
		for name, image := range f.images {
			i := byID[image.id]
			if i == nil {
				i = &dockertools.Image{ID: image.id, Size: fakePullSteps * fakePullBytes, Created: image.created}
				byID[image.id] = i
			}
			if repo, _, byDigest := strings.Cut(name, "@"); byDigest {
				i.Digests = append(i.Digests, name)
			} else {
				i.Tags = append(i.Tags, name)
				if image.pulled {
					i.Digests = append(i.Digests, repo[:strings.LastIndex(repo, ":")]+"@"+image.id)
				}
			}
		}
		for _, i := range byID {
			list = append(list, *i)
		}
		return list, nil
	})
}

func (f *Fake) RemoveImage(ctx context.Context, image string) error {
	return f.call(ctx, "RemoveImage", image, func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		name := dockertools.ImageName(image)
		found := f.images[name]
		if found == nil {
			return fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, image)
		}
		last := true
		for other, image := range f.images {
			last = last && (other == name || image != found)
		}
		for _, c := range f.containers {
			if last && c.image == found {
				return fmt.Errorf("conflict: unable to remove repository reference %q: container %s is using its referenced image", image, c.ID[:12])
			}
		}
		delete(f.images, name)
		return nil
	})
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
	image := &fakeImage{id: "sha256:" + d.newID(), pulled: true, hasCommand: true, program: remote.Program}
	image.layers, image.created = []string{image.id}, d.now()
	d.remote[dockertools.ImageName(name)] = &remoteImage{remote, image}
}

// PullImage is over at once, without progress, when the image is there and still
// the same.
func (f *Fake) PullImage(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error {
	return f.call(ctx, "PullImage", image, func(ctx context.Context) error {
		f.mu.Lock()
		remote, local := f.remote[dockertools.ImageName(image)], f.images[dockertools.ImageName(image)]
		f.mu.Unlock()
		switch {
		case remote == nil:
			return fmt.Errorf("%w: manifest unknown", dockertools.ErrImageNotFound)
		case !remote.lets(auth):
			return fmt.Errorf("%w: unauthorized", dockertools.ErrUnauthorised)
		}
		for step := 0; remote.image != local; step++ {
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
		f.images[dockertools.ImageName(image)] = remote.image
		for pulled := range f.pullWatchers {
			pulled <- image
		}
		return nil
	})
}
