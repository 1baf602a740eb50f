package dockertest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"kubelet14/kubelet/dockertools"
)

// fakeDocker is the daemon of a Fake, and the wire to it.
type fakeDocker struct {
	mu         sync.Mutex                                   // guards all that follows
	serial     int                                          // makes ids
	containers map[string]*fakeContainer                    // by id
	images     map[string]*fakeImage                        // by name with tag
	networks   map[string]bool                              // by name: whether MakeNetwork has made it
	remote     map[string]*remoteImage                      // by name with tag: what the registries have
	ahead      time.Duration                                // of its clock, see SetClock
	watchers   map[chan dockertools.Event]map[string]string // the event streams, and which labels each asks for

	pullWatchers map[chan string]map[string]string // those of pulls

	// The wire: the way from the code under test to the daemon.
	up    context.Context // done while the daemon is down
	down  context.CancelFunc
	total int            // of calls
	calls map[string]int // by method
	fault func(Call) Fault
}

// FakeContainer is a container of a Fake, with everything a test may look at.
type FakeContainer struct {
	dockertools.Container
	Spec    dockertools.ContainerSpec // as it was created
	Details dockertools.Inspected
}

type fakeContainer struct {
	FakeContainer // Status is made for each list, Details.State for each inspect
	image         *fakeImage
	program       Program       // of the last start
	ended         chan struct{} // of the last start: closed when it is over
	commands      int           // that run beside the program
	written       int64         // bytes, to its own file system
	log           []logLine     // what it has printed since it was created
	printed       chan struct{} // closed when it prints more
}

func (f *Fake) Info(ctx context.Context) (dockertools.Info, error) {
	return ask(ctx, f, "Info", "", func() (dockertools.Info, error) {
		return dockertools.Info{Version: "20.10.0-fake", OS: "linux", Arch: "amd64", LogDriver: "json-file",
			Name: "fake", Kernel: "6.1.0-fake", OSImage: "Fake 1", RootDir: "/var/lib/docker"}, nil
	})
}

func (f *Fake) ListContainers(ctx context.Context, labels map[string]string) ([]dockertools.Container, error) {
	return ask(ctx, f, "ListContainers", "", func() (list []dockertools.Container, err error) {
		for _, c := range f.containers {
			if c.hasLabels(labels) {
				list = append(list, c.listed())
			}
		}
		return list, nil
	})
}

func (f *Fake) ContainerSizes(ctx context.Context, labels map[string]string) (map[string]int64, error) {
	return ask(ctx, f, "ContainerSizes", "", func() (map[string]int64, error) {
		sizes := map[string]int64{}
		for id, c := range f.containers {
			if c.hasLabels(labels) {
				sizes[id] = c.written
			}
		}
		return sizes, nil
	})
}

// Write lets the program of a container write so many bytes to its own file system.
func (d *fakeDocker) Write(container string, bytes int64) error {
	return d.change(container, func(c *fakeContainer) error {
		c.written += bytes
		return nil
	})
}

func (c *fakeContainer) hasLabels(labels map[string]string) bool {
	for name, want := range labels {
		if value, ok := c.Labels[name]; !ok || want != "" && value != want {
			return false
		}
	}
	return true
}

// Containers returns all containers, by name.
func (d *fakeDocker) Containers() []FakeContainer {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []FakeContainer
	for _, c := range d.containers {
		all = append(all, FakeContainer{c.listed(), c.Spec, c.Details})
	}
	slices.SortFunc(all, func(a, b FakeContainer) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (f *Fake) InspectContainer(ctx context.Context, id string) (dockertools.Inspected, error) {
	return ask(ctx, f, "InspectContainer", id, func() (dockertools.Inspected, error) {
		c, err := f.find(id)
		if err != nil {
			return dockertools.Inspected{}, err
		}
		details := c.Details
		details.State = c.ListState
		return details, nil
	})
}

// CreateContainer does not look for the container whose network is to be joined,
// like the real one.
func (f *Fake) CreateContainer(ctx context.Context, spec dockertools.ContainerSpec) (string, error) {
	return ask(ctx, f, "CreateContainer", spec.Name, func() (string, error) {
		image := f.images[dockertools.ImageName(spec.Image)]
		if image == nil {
			return "", fmt.Errorf("%w: %s", dockertools.ErrNoSuchImage, spec.Image)
		}
		if err := checkSpec(spec, image); err != nil {
			return "", err
		}
		id := f.newID()
		spec.Name = cmp.Or(spec.Name, id[:12])
		if err := f.nameIsFree(spec.Name); err != nil {
			return "", err
		}
		spec.Labels = maps.Clone(spec.Labels)
		c := &fakeContainer{image: image, printed: make(chan struct{})}
		c.Spec = spec
		c.Container = dockertools.Container{
			ID:        id,
			Name:      spec.Name,
			Image:     spec.Image,
			ImageID:   image.id,
			Labels:    spec.Labels,
			ListState: dockertools.StateCreated,
			Created:   f.now().Truncate(time.Second), // Docker's list knows no better
		}
		c.Details.ImageID, c.Details.CreatedAt = image.id, time.Now()
		f.containers[id] = c
		return id, nil
	})
}

// checkSpec refuses what Docker does, with its words.
func checkSpec(spec dockertools.ContainerSpec, image *fakeImage) error {
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
		if _, err := os.Stat(m.HostPath); err != nil {
			return fmt.Errorf(`invalid mount config for type "bind": bind source path does not exist: %s`, m.HostPath)
		}
	}
	return nil
}

func (d *fakeDocker) nameIsFree(name string) error {
	if c, err := d.find(name); err == nil {
		return fmt.Errorf("%w: the container name %q is already in use by container %q", dockertools.ErrNameTaken, name, c.ID)
	}
	return nil
}

func (f *Fake) RemoveContainer(ctx context.Context, id string) error {
	return f.call(ctx, "RemoveContainer", id, func(context.Context) error {
		return f.change(id, func(c *fakeContainer) error {
			if c.ListState.Live() {
				f.end(c, 137)
			}
			delete(f.containers, c.ID)
			f.emit(c)
			return nil
		})
	})
}

// change calls do with a container and the mutex held.
func (d *fakeDocker) change(idOrName string, do func(*fakeContainer) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(idOrName)
	if err != nil {
		return err
	}
	return do(c)
}

func (d *fakeDocker) find(idOrName string) (*fakeContainer, error) {
	if c := d.containers[idOrName]; c != nil {
		return c, nil
	}
	for _, c := range d.containers {
		if c.Name == idOrName {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", dockertools.ErrNoSuchContainer, idOrName)
}

func (d *fakeDocker) newID() string {
	d.serial++
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, d.serial)))
}

func (f *Fake) WatchEvents(ctx context.Context, labels map[string]string, hint func(dockertools.Event)) error {
	return watch(ctx, f, "WatchEvents", f.watchers, labels, hint)
}

func (f *Fake) WatchPulls(ctx context.Context, pulled func(image string)) error {
	return watch(ctx, f, "WatchPulls", f.pullWatchers, nil, pulled)
}

// watch tells each what is sent to a new one of the watchers, until ctx is done.
func watch[Event any](ctx context.Context, f *Fake, method string, watchers map[chan Event]map[string]string, labels map[string]string, each func(Event)) error {
	err := f.call(ctx, method, "", func(ctx context.Context) error {
		events := make(chan Event, 1000)
		f.mu.Lock()
		watchers[events] = labels
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(watchers, events)
		}()
		var begun Event
		each(begun)
		for {
			select {
			case e := <-events:
				each(e)
			case <-ctx.Done():
				return nil
			}
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// emit sends every watcher a hint that a container has changed. A slow watcher misses
// it, as Interface allows.
func (d *fakeDocker) emit(c *fakeContainer) {
	d.tell(c, dockertools.Event{ID: c.ID})
}

func (d *fakeDocker) tell(c *fakeContainer, e dockertools.Event) {
	for events, labels := range d.watchers {
		if !c.hasLabels(labels) {
			continue
		}
		select {
		case events <- e:
		default:
		}
	}
}
