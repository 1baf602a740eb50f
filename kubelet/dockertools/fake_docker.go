package dockertools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/distribution/reference"
)

// fakeDocker is the daemon of a Fake: what it holds, and what its processes do.
type fakeDocker struct {
	mu          sync.Mutex
	serial      int                       // makes ids
	containers  map[string]*fakeContainer // by id
	images      map[string]*fakeImage     // by name with tag
	watchers    map[*fakeWatcher]bool
	slowRemoval time.Duration
	pathExists  func(path string) bool
}

type fakeImage struct {
	id         string
	hasCommand bool
	program    func(ContainerSpec) Program
}

// fakeContainer is one container. Its fields are guarded by the mutex of its
// fakeDocker.
type fakeContainer struct {
	Container // Status is made for each list
	spec      ContainerSpec
	image     *fakeImage
	details   Details
	process   *fakeProcess  // of the last start; nil when there was none
	removed   chan struct{} // closed when it is gone
}

func newFakeDocker() *fakeDocker {
	return &fakeDocker{
		containers: map[string]*fakeContainer{},
		images:     map[string]*fakeImage{},
		watchers:   map[*fakeWatcher]bool{},
		pathExists: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
}

// Version implements Interface.
func (d *fakeDocker) Version(context.Context) (Version, error) {
	return Version{Version: "20.10.0-fake", APIVersion: "1.41", OS: "linux", Arch: "amd64"}, nil
}

// ListContainers implements Interface.
func (d *fakeDocker) ListContainers(_ context.Context, labels map[string]string) ([]Container, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Container
	for _, c := range d.containers {
		if c.hasLabels(labels) {
			list = append(list, c.listed())
		}
	}
	return list, nil
}

func (c *fakeContainer) hasLabels(labels map[string]string) bool {
	for name, want := range labels {
		if value, ok := c.Labels[name]; !ok || want != "" && value != want {
			return false
		}
	}
	return true
}

// InspectContainer implements Interface.
func (d *fakeDocker) InspectContainer(_ context.Context, id string) (Details, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(id)
	if err != nil {
		return Details{}, err
	}
	details := c.details
	details.State = c.State
	return details, nil
}

// CreateContainer implements Interface. Like the real one it does not look for
// the container whose network is to be joined.
func (d *fakeDocker) CreateContainer(_ context.Context, spec ContainerSpec) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := d.images[imageName(spec.Image)]
	if image == nil {
		return "", fmt.Errorf("%w: %s", ErrNoSuchImage, spec.Image)
	}
	if err := d.check(spec, image); err != nil {
		return "", err
	}
	id := d.newID()
	spec.Name = cmp.Or(spec.Name, id[:12])
	if err := d.nameIsFree(spec.Name); err != nil {
		return "", err
	}
	spec.Labels = maps.Clone(spec.Labels)
	d.containers[id] = &fakeContainer{
		Container: Container{
			ID:      id,
			Name:    spec.Name,
			Image:   spec.Image,
			Labels:  spec.Labels,
			State:   StateCreated,
			Created: time.Now().Truncate(time.Second), // Docker's list knows no better
		},
		spec:    spec,
		image:   image,
		removed: make(chan struct{}),
	}
	return id, nil
}

// check refuses what Docker does, with its words.
func (d *fakeDocker) check(spec ContainerSpec, image *fakeImage) error {
	joins := spec.NetworkContainer != ""
	switch {
	case joins && spec.Hostname != "":
		return errors.New("conflicting options: hostname and the network mode")
	case joins && len(spec.Ports) > 0:
		return errors.New("conflicting options: port publishing and the container type network mode")
	case !image.hasCommand && len(spec.Entrypoint)+len(spec.Command) == 0:
		return errors.New("no command specified")
	}
	for _, m := range spec.Mounts {
		if !d.pathExists(m.HostPath) {
			return fmt.Errorf(`invalid mount config for type "bind": bind source path does not exist: %s`, m.HostPath)
		}
	}
	return nil
}

func (d *fakeDocker) nameIsFree(name string) error {
	if c, err := d.find(name); err == nil {
		return fmt.Errorf("%w: the container name %q is already in use by container %q", ErrNameTaken, name, c.ID)
	}
	return nil
}

// RemoveContainer implements Interface.
func (d *fakeDocker) RemoveContainer(ctx context.Context, id string) error {
	c, err := d.beginRemoval(id)
	if err != nil {
		return err
	}
	select {
	case <-c.removed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *fakeDocker) beginRemoval(id string) (*fakeContainer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(id)
	if err != nil {
		return nil, err
	}
	if c.State == StateRemoving {
		return nil, fmt.Errorf("removal of container %s is already in progress", id)
	}
	if c.State.Live() {
		d.end(c, 137)
	}
	c.State = StateRemoving
	if d.slowRemoval == 0 {
		d.remove(c)
		return c, nil
	}
	time.AfterFunc(d.slowRemoval, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.remove(c)
	})
	return c, nil
}

func (d *fakeDocker) remove(c *fakeContainer) {
	delete(d.containers, c.ID)
	close(c.removed)
	d.emit(c)
}

// InspectImage implements Interface.
func (d *fakeDocker) InspectImage(_ context.Context, image string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.images[imageName(image)]; found != nil {
		return found.id, nil
	}
	return "", fmt.Errorf("%w: %s", ErrNoSuchImage, image)
}

// ImportImage implements Interface. The image has no command of its own, and its
// programs run until they are stopped.
func (d *fakeDocker) ImportImage(_ context.Context, image string, tar io.Reader) error {
	if _, err := io.Copy(io.Discard, tar); err != nil {
		return err
	}
	d.addImage(image, false, nil)
	return nil
}

func (d *fakeDocker) addImage(name string, hasCommand bool, program func(ContainerSpec) Program) {
	if program == nil {
		program = func(ContainerSpec) Program { return Program{} }
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.images[imageName(name)] = &fakeImage{id: "sha256:" + d.newID(), hasCommand: hasCommand, program: program}
}

// find knows a container by its id or its name.
func (d *fakeDocker) find(idOrName string) (*fakeContainer, error) {
	if c := d.containers[idOrName]; c != nil {
		return c, nil
	}
	for _, c := range d.containers {
		if c.Name == idOrName {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoSuchContainer, idOrName)
}

// nameOf is empty when there is no such container.
func (d *fakeDocker) nameOf(idOrName string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, err := d.find(idOrName); err == nil {
		return c.Name
	}
	return ""
}

func (d *fakeDocker) newID() string {
	d.serial++
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, d.serial)))
}

// imageName is the name Docker keeps an image under: busybox is busybox:latest.
func imageName(name string) string {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return name
	}
	return reference.TagNameOnly(named).String()
}

// FakeContainer is all there is to know of a container of a Fake.
type FakeContainer struct {
	Container
	Spec    ContainerSpec // as it was created
	Details Details
}

// Containers is a snapshot of all containers, by name.
func (d *fakeDocker) Containers() []FakeContainer {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []FakeContainer
	for _, c := range d.containers {
		all = append(all, FakeContainer{c.listed(), c.spec, c.details})
	}
	slices.SortFunc(all, func(a, b FakeContainer) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
