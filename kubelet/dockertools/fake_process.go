package dockertools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
)

// Program is what the process of a container does. The zero Program runs until
// it is asked to stop, and then ends with 0.
type Program struct {
	Missing    bool          // the command does not exist: it cannot be started
	Exits      bool          // it ends by itself …
	After      time.Duration // … so long after its start …
	ExitCode   int           // … with this code
	TermCode   int           // how it ends when asked to stop
	IgnoreTerm bool          // it does not end when asked to stop
}

// fakeProcess is one run of a container.
type fakeProcess struct {
	Program
	ended chan struct{} // closed when it is over
}

// StartContainer implements Interface.
func (d *fakeDocker) StartContainer(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(id)
	if err != nil {
		return err
	}
	switch c.State {
	case StateRunning:
		return nil
	case StatePaused:
		return errors.New("cannot start a paused container, try unpause instead")
	case StateRemoving:
		return errors.New("container is marked for removal and cannot be started")
	}
	program := c.image.program(c.spec)
	if err := d.joinNetwork(c); err != nil {
		return c.failStart(128, err)
	}
	if program.Missing {
		return c.failStart(127, errors.New("failed to create shim task: OCI runtime create failed: runc create failed: "+
			"unable to start container process: executable file not found in $PATH: unknown"))
	}
	d.begin(c, program)
	return nil
}

// failStart leaves the container in its state, with the reason. An exit code of
// an earlier run stays, unless it is 0.
func (c *fakeContainer) failStart(code int, reason error) error {
	if c.details.ExitCode == 0 {
		c.details.ExitCode = code
	}
	c.details.Error = reason.Error()
	return reason
}

// joinNetwork gives a container its network: one of its own, with its ports, or
// that of another one that runs. A network of its own is there even when the
// start then fails, as on the real Docker.
func (d *fakeDocker) joinNetwork(c *fakeContainer) error {
	if c.spec.NetworkContainer != "" {
		other, err := d.find(c.spec.NetworkContainer)
		if err != nil {
			return err
		}
		if !other.State.Live() {
			return fmt.Errorf("cannot join network of a non running container: %s", other.ID)
		}
		return nil
	}
	c.Endpoint = d.newID()
	c.details.IP = fmt.Sprintf("172.17.%d.%d", d.serial/256%256, d.serial%256)
	for _, other := range d.containers {
		for _, held := range other.Ports {
			if i := slices.IndexFunc(c.spec.Ports, held.conflicts); i >= 0 {
				return fmt.Errorf("driver failed programming external connectivity on endpoint %s (%s): Bind for %s:%d failed: port is already allocated",
					c.Name, c.Endpoint, cmp.Or(c.spec.Ports[i].HostIP, "0.0.0.0"), held.HostPort)
			}
		}
	}
	return nil
}

func (p PublishedPort) conflicts(other PublishedPort) bool {
	return p.HostPort == other.HostPort && cmp.Or(p.Protocol, "tcp") == cmp.Or(other.Protocol, "tcp") &&
		(isEveryAddress(p.HostIP) || isEveryAddress(other.HostIP) || p.HostIP == other.HostIP)
}

func isEveryAddress(hostIP string) bool {
	ip, err := netip.ParseAddr(hostIP)
	return hostIP == "" || err == nil && ip.IsUnspecified()
}

func (d *fakeDocker) begin(c *fakeContainer, program Program) {
	process := &fakeProcess{program, make(chan struct{})}
	c.process = process
	c.State = StateRunning
	c.details.StartedAt = time.Now()
	c.details.ExitCode = 0
	c.details.Error = ""
	c.Ports = slices.Clone(c.spec.Ports)
	for i := range c.Ports {
		c.Ports[i].Protocol = cmp.Or(c.Ports[i].Protocol, "tcp")
		if isEveryAddress(c.Ports[i].HostIP) {
			c.Ports[i].HostIP = ""
		}
	}
	d.emit(c)
	switch {
	case program.Exits && program.After == 0:
		d.end(c, program.ExitCode)
	case program.Exits:
		d.endAfter(c, process, program.After, program.ExitCode)
	}
}

// endAfter ends a process when its time comes, unless it is over by then.
func (d *fakeDocker) endAfter(c *fakeContainer, process *fakeProcess, after time.Duration, code int) {
	time.AfterFunc(after, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.process == process && c.State.Live() {
			d.end(c, code)
		}
	})
}

// end is the death of the process of a live container.
func (d *fakeDocker) end(c *fakeContainer, code int) {
	c.State = StateExited
	c.Endpoint = ""
	c.Ports = nil
	c.details.IP = ""
	c.details.FinishedAt = time.Now()
	c.details.ExitCode = code
	close(c.process.ended)
	d.emit(c)
}

// StopContainer implements Interface.
func (d *fakeDocker) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	process, err := d.askToStop(id, grace)
	if process == nil || err != nil {
		return err
	}
	select {
	case <-process.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// askToStop returns the process to wait for, nil when there is none. The daemon
// keeps its promise to kill it also when the caller waits no more.
func (d *fakeDocker) askToStop(id string, grace time.Duration) (*fakeProcess, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := d.find(id)
	if err != nil || !c.State.Live() {
		return nil, err
	}
	c.State = StateRunning // Docker thaws a paused container to stop it
	process := c.process
	switch {
	case strings.TrimPrefix(c.spec.StopSignal, "SIG") == "KILL":
		d.end(c, 137)
	case process.IgnoreTerm:
		d.endAfter(c, process, grace, 137)
	default:
		d.end(c, process.TermCode)
	}
	return process, nil
}

// listed is the container's line in a list.
func (c *fakeContainer) listed() Container {
	line := c.Container
	line.Labels = maps.Clone(c.Labels)
	line.Ports = slices.Clone(c.Ports)
	since := func(t time.Time) string { return units.HumanDuration(time.Since(t)) }
	switch c.State {
	case StateCreated:
		line.Status = "Created"
	case StateRunning:
		line.Status = "Up " + since(c.details.StartedAt)
	case StatePaused:
		line.Status = "Up " + since(c.details.StartedAt) + " (Paused)"
	case StateRemoving:
		line.Status = "Removal In Progress"
	case StateExited:
		line.Status = fmt.Sprintf("Exited (%d) %s ago", c.details.ExitCode, since(c.details.FinishedAt))
	}
	return line
}
