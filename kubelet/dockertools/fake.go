package dockertools

import (
	"context"
	"io"
	"time"
)

var _ Interface = (*Fake)(nil)

// Fake is a Docker in memory, for tests: it keeps real state (names, ports,
// networks, processes) and answers as the real one does. It is made of three
// parts:
//
//	the code under test ──▶ fakeWire ──▶ fakeDocker ◀── a person
//	      Interface          SetFault     state          Kill, Pause, Rename, RunStranger …
//	                         StopAfter                   ByHand().RemoveContainer …
//	                         Down, Up, Calls
//
// Only what comes through Interface passes the wire, where a test loses, delays
// and counts calls. All times are those of time.Now, and nothing happens but by
// calls and timers, so a test can make a Fake in a testing/synctest bubble and
// let hours pass.
//
// All methods may be called by any number of goroutines.
type Fake struct {
	*fakeDocker
	*fakeWire
}

// NewFake makes a Docker without images or containers.
func NewFake() *Fake {
	docker := newFakeDocker()
	return &Fake{docker, newFakeWire(docker)}
}

// ByHand is the same Docker as a person with the docker command sees it: no
// fault touches these calls, and none is counted.
func (f *Fake) ByHand() Interface { return f.fakeDocker }

// RestartDaemon ends every process, breaks every call and event stream that is
// on its way, and answers again. Graceful asks every container to stop, with 10 s
// to do so: so it is at `systemctl restart docker`, and also when a dockerd that
// was killed comes back and finds them running. Otherwise all end at once, as when
// the machine loses its power, and with 255, since nobody knows how they ended.
// Containers that outlive the daemon (its option live-restore) are Down and Up.
func (f *Fake) RestartDaemon(graceful bool) {
	f.Down()
	f.endAll(graceful)
	f.Up()
}

// Version implements Interface.
func (f *Fake) Version(ctx context.Context) (Version, error) {
	return through(ctx, f, Call{Method: "Version"}, f.fakeDocker.Version)
}

// ListContainers implements Interface.
func (f *Fake) ListContainers(ctx context.Context, labels map[string]string) ([]Container, error) {
	return through(ctx, f, Call{Method: "ListContainers"}, func(ctx context.Context) ([]Container, error) {
		return f.fakeDocker.ListContainers(ctx, labels)
	})
}

// InspectContainer implements Interface.
func (f *Fake) InspectContainer(ctx context.Context, id string) (Details, error) {
	return through(ctx, f, Call{Method: "InspectContainer", Container: id}, func(ctx context.Context) (Details, error) {
		return f.fakeDocker.InspectContainer(ctx, id)
	})
}

// CreateContainer implements Interface.
func (f *Fake) CreateContainer(ctx context.Context, spec ContainerSpec) (string, error) {
	return through(ctx, f, Call{Method: "CreateContainer", Container: spec.Name, changes: true}, func(ctx context.Context) (string, error) {
		return f.fakeDocker.CreateContainer(ctx, spec)
	})
}

// StartContainer implements Interface.
func (f *Fake) StartContainer(ctx context.Context, id string) error {
	return f.call(ctx, Call{Method: "StartContainer", Container: id, changes: true}, func(ctx context.Context) error {
		return f.fakeDocker.StartContainer(ctx, id)
	})
}

// StopContainer implements Interface.
func (f *Fake) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	return f.call(ctx, Call{Method: "StopContainer", Container: id, changes: true}, func(ctx context.Context) error {
		return f.fakeDocker.StopContainer(ctx, id, grace)
	})
}

// RemoveContainer implements Interface.
func (f *Fake) RemoveContainer(ctx context.Context, id string) error {
	return f.call(ctx, Call{Method: "RemoveContainer", Container: id, changes: true}, func(ctx context.Context) error {
		return f.fakeDocker.RemoveContainer(ctx, id)
	})
}

// InspectImage implements Interface.
func (f *Fake) InspectImage(ctx context.Context, image string) (string, error) {
	return through(ctx, f, Call{Method: "InspectImage"}, func(ctx context.Context) (string, error) {
		return f.fakeDocker.InspectImage(ctx, image)
	})
}

// ImportImage implements Interface.
func (f *Fake) ImportImage(ctx context.Context, image string, tar io.Reader) error {
	return f.call(ctx, Call{Method: "ImportImage", changes: true}, func(ctx context.Context) error {
		return f.fakeDocker.ImportImage(ctx, image, tar)
	})
}

// WatchEvents implements Interface.
func (f *Fake) WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error {
	err := f.call(ctx, Call{Method: "WatchEvents"}, func(ctx context.Context) error {
		return f.fakeDocker.WatchEvents(ctx, labels, hint)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// through is call for what has an answer, which is lost with an error.
func through[T any](ctx context.Context, f *Fake, c Call, do func(context.Context) (T, error)) (T, error) {
	var answer, none T
	err := f.call(ctx, c, func(ctx context.Context) (err error) {
		answer, err = do(ctx)
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}
