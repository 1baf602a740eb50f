package dockertools

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// What follows is the person's side of a Fake. A container is named by its id or
// its name.

// AddImage makes an image that has a command of its own. program is asked at
// each start what the process does, and may go by the command; it must not call
// the Fake. nil stands for the zero Program.
func (d *fakeDocker) AddImage(name string, program func(ContainerSpec) Program) {
	d.addImage(name, true, program)
}

// SetPathExists says which paths of the host can be mounted; at first those that
// are there.
func (d *fakeDocker) SetPathExists(exists func(path string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pathExists = exists
}

// SetSlowRemoval makes every removal from now on take so long. Meanwhile the
// container is in state removing.
func (d *fakeDocker) SetSlowRemoval(takes time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slowRemoval = takes
}

// RunStranger creates and starts a container as someone else would: with any
// name and labels, also those that were copied from a container of ours.
func (d *fakeDocker) RunStranger(spec ContainerSpec) (id string, err error) {
	ctx := context.Background()
	if id, err = d.CreateContainer(ctx, spec); err != nil {
		return "", err
	}
	return id, d.StartContainer(ctx, id)
}

// Kill ends the process of a container with an exit code: 137 is `docker kill`,
// anything else a death of its own.
func (d *fakeDocker) Kill(container string, code int) error {
	return d.change(container, func(c *fakeContainer) error {
		if !c.State.Live() {
			return fmt.Errorf("container %s is not running", c.ID)
		}
		d.end(c, code)
		return nil
	})
}

// Pause is `docker pause`.
func (d *fakeDocker) Pause(container string) error {
	return d.change(container, func(c *fakeContainer) error { return c.move(StateRunning, StatePaused) })
}

// Unpause is `docker unpause`.
func (d *fakeDocker) Unpause(container string) error {
	return d.change(container, func(c *fakeContainer) error { return c.move(StatePaused, StateRunning) })
}

func (c *fakeContainer) move(from, to State) error {
	if c.State != from {
		return fmt.Errorf("container %s is %s, not %s", c.ID, c.State, from)
	}
	c.State = to
	return nil
}

// Rename is `docker rename`.
func (d *fakeDocker) Rename(container, name string) error {
	return d.change(container, func(c *fakeContainer) error {
		if err := d.nameIsFree(name); err != nil {
			return err
		}
		c.Name = name
		return nil
	})
}

// Restart is `docker restart`: a stop with 10 s to do so, and a start.
func (d *fakeDocker) Restart(container string) error {
	if err := d.StopContainer(context.Background(), container, 10*time.Second); err != nil {
		return err
	}
	return d.StartContainer(context.Background(), container)
}

func (d *fakeDocker) change(container string, f func(*fakeContainer) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(container)
	if err != nil {
		return err
	}
	return f(c)
}

// endAll is what the end of the daemon means for the containers. Those that do
// not run are not touched by it.
func (d *fakeDocker) endAll(graceful bool) {
	var stops sync.WaitGroup
	defer stops.Wait()
	for _, c := range d.Containers() {
		if graceful {
			stops.Go(func() { d.StopContainer(context.Background(), c.ID, 10*time.Second) })
		} else {
			d.Kill(c.ID, 255)
		}
	}
}
