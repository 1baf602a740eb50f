package dockertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docker/go-units"

	"kubelet14/kubelet/dockertools"
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

	Log       string // what it prints, at its start
	StopLog   string // what it prints on stderr when asked to stop
	LastWords string // what it writes to /dev/termination-log, when that is mounted, before it ends; SIGKILL leaves no time for it
	OOMKilled bool   // its end by itself is the kernel's doing, for it has used too much memory
	OOMIsLate bool   // Docker hears of that after the end: an event tells it, and an inspect never does

	Began func()             // called when it has begun, if it is set, and …
	Ended func(exitCode int) // … when it is over; they must not call the Fake

	Exec func(command []string) ExecOutcome // what becomes of commands that are run beside it; nil: the zero ExecOutcome of each
}

func (f *Fake) StartContainer(ctx context.Context, id string) error {
	return f.call(ctx, "StartContainer", id, func(context.Context) error {
		return f.change(id, f.start)
	})
}

func (d *fakeDocker) start(c *fakeContainer) error {
	switch c.ListState {
	case dockertools.StateRunning:
		return nil
	case dockertools.StatePaused:
		return errors.New("cannot start a paused container, try unpause instead")
	}
	if err := checkSpec(c.Spec, c.image); err != nil {
		return err
	}
	c.program = Program{}
	if c.image.program != nil {
		c.program = c.image.program(c.Spec)
	}
	if err := d.joinNetwork(c); err != nil {
		return c.failStart(128, err)
	}
	if c.program.Missing {
		return c.failStart(127, errors.New("failed to create shim task: OCI runtime create failed: runc create failed: "+
			"unable to start container process: executable file not found in $PATH: unknown"))
	}
	c.ended = make(chan struct{})
	c.ListState = dockertools.StateRunning
	c.Details.StartedAt = d.now()
	c.Details.ExitCode = 0
	c.Details.Error = ""
	c.Details.OOMKilled = false
	c.print(false, c.program.Log)
	if c.program.Began != nil {
		c.program.Began()
	}
	c.Ports = slices.Clone(c.Spec.Ports)
	for i := range c.Ports {
		if isEveryAddress(c.Ports[i].HostIP) {
			c.Ports[i].HostIP = ""
		}
	}
	d.emit(c)
	if !c.program.Exits {
		return nil
	}
	exit := func() {
		d.exit(c, c.program.ExitCode)
		c.Details.OOMKilled = c.program.OOMKilled && !c.program.OOMIsLate
		if c.program.OOMKilled {
			d.tell(c, dockertools.Event{ID: c.ID, OutOfMemory: true})
		}
	}
	if c.program.After == 0 {
		exit()
	} else {
		d.after(c, c.program.After, exit)
	}
	return nil
}

// failStart leaves the container in its state, with the reason. An exit code of
// an earlier run stays, unless it is 0.
func (c *fakeContainer) failStart(code int, reason error) error {
	c.Details.ExitCode = cmp.Or(c.Details.ExitCode, code)
	c.Details.Error = reason.Error()
	return reason
}

// joinNetwork gives a container its network: one of its own, with its ports, or
// that of another one that runs. A network of its own is there even when the
// start then fails, unless the network is missing, as on the real Docker.
func (d *fakeDocker) joinNetwork(c *fakeContainer) error {
	if c.Spec.NetworkContainer != "" {
		other, err := d.find(c.Spec.NetworkContainer)
		if err == nil && !other.ListState.Live() {
			err = fmt.Errorf("cannot join network of a non running container: %s", other.ID)
		}
		return err
	}
	if _, exists := d.networks[cmp.Or(c.Spec.Network, "bridge")]; !exists {
		return fmt.Errorf("%w: network %s not found", dockertools.ErrNoSuchNetwork, c.Spec.Network)
	}
	c.Endpoint = d.newID()
	c.Details.IP = fmt.Sprintf("172.17.%d.%d", d.serial/256%256, d.serial%256)
	if c.Spec.Network == "host" {
		c.Details.IP = dockertools.HostIP()
	}
	for _, other := range d.containers {
		for _, held := range other.Ports {
			if i := slices.IndexFunc(c.Spec.Ports, held.Overlaps); i >= 0 {
				return fmt.Errorf("driver failed programming external connectivity on endpoint %s (%s): Bind for %s:%d failed: port is already allocated",
					c.Name, c.Endpoint, cmp.Or(c.Spec.Ports[i].HostIP, "0.0.0.0"), held.HostPort)
			}
		}
	}
	return nil
}

func isEveryAddress(hostIP string) bool { return hostIP == "" || hostIP == "0.0.0.0" || hostIP == "::" }

// after does what ends the process, when its time comes, unless it is over by then.
func (d *fakeDocker) after(c *fakeContainer, wait time.Duration, end func()) {
	ended := c.ended
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if c.ended == ended && c.ListState.Live() {
			end()
		}
	})
}

// exit is an end that leaves the process the time to say why.
func (d *fakeDocker) exit(c *fakeContainer, code int) {
	c.sayLastWords()
	d.end(c, code)
}

// end is the death of the process of a live container.
func (d *fakeDocker) end(c *fakeContainer, code int) {
	c.ListState = dockertools.StateExited
	c.Endpoint = ""
	c.Ports = nil
	c.Details.IP = ""
	c.Details.FinishedAt = d.now()
	c.Details.ExitCode = code
	if c.program.Ended != nil {
		c.program.Ended(code)
	}
	close(c.ended)
	d.emit(c)
}

// StopContainer keeps its promise to kill also when the caller waits no more.
func (f *Fake) StopContainer(ctx context.Context, id string, grace time.Duration) error {
	return f.call(ctx, "StopContainer", id, func(ctx context.Context) error {
		var ended chan struct{}
		err := f.change(id, func(c *fakeContainer) error {
			ended = c.ended
			if !c.ListState.Live() {
				return nil
			}
			c.ListState = dockertools.StateRunning // Docker thaws a paused container to stop it
			if strings.TrimPrefix(c.Spec.StopSignal, "SIG") == "KILL" {
				f.end(c, 137)
				return nil
			}
			f.tell(c, dockertools.Event{ID: c.ID, Signalled: true})
			c.print(true, c.program.StopLog)
			if c.program.IgnoreTerm {
				f.after(c, grace, func() { f.end(c, 137) })
			} else {
				f.exit(c, c.program.TermCode)
			}
			return nil
		})
		if err != nil || ended == nil {
			return err
		}
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// Kill ends the process of a container with an exit code: 137 is `docker kill`,
// anything else a death of its own.
func (d *fakeDocker) Kill(container string, code int) error {
	return d.change(container, func(c *fakeContainer) error {
		if !c.ListState.Live() {
			return fmt.Errorf("container %s is not running", c.ID)
		}
		if code == 137 {
			d.end(c, code)
		} else {
			d.exit(c, code)
		}
		return nil
	})
}

// Pause is `docker pause`.
func (d *fakeDocker) Pause(container string) error {
	return d.change(container, func(c *fakeContainer) error {
		if c.ListState != dockertools.StateRunning {
			return fmt.Errorf("container %s is %s, not running", c.ID, c.ListState)
		}
		c.ListState = dockertools.StatePaused
		d.emit(c)
		return nil
	})
}

// Update is `docker update --restart`. The Fake does not act on the policy.
func (d *fakeDocker) Update(container, restartPolicy string) error {
	return d.change(container, func(c *fakeContainer) error {
		c.Details.RestartPolicy = strings.TrimPrefix(restartPolicy, "no")
		d.emit(c)
		return nil
	})
}

// RunStranger creates and starts a container as another program would: with any name
// and labels, also copied ones.
func (f *Fake) RunStranger(spec dockertools.ContainerSpec) (id string, err error) {
	ctx := context.Background()
	if id, err = f.ByHand().CreateContainer(ctx, spec); err != nil {
		return "", err
	}
	return id, f.ByHand().StartContainer(ctx, id)
}

// Restart is `docker restart`: a stop with 10 s to do so, and a start.
func (f *Fake) Restart(container string) error {
	ctx := context.Background()
	if err := f.ByHand().StopContainer(ctx, container, 10*time.Second); err != nil {
		return err
	}
	return f.ByHand().StartContainer(ctx, container)
}

// RestartDaemon ends every process, breaks every call and event stream that is
// on its way, and answers again. Graceful asks every container to stop, with 10 s
// to do so: so it is at `systemctl restart docker`, and also when a dockerd that
// was killed comes back and finds them running. Otherwise all end at once, as when
// the machine loses its power, and with 255, since nobody knows how they ended.
// Containers that outlive the daemon (its option live-restore) are Down and Up.
func (f *Fake) RestartDaemon(graceful bool) {
	f.Down()
	var stops sync.WaitGroup
	for _, c := range f.Containers() {
		if graceful {
			stops.Go(func() { f.ByHand().StopContainer(context.Background(), c.ID, 10*time.Second) })
		} else {
			f.change(c.ID, func(c *fakeContainer) error {
				if c.ListState.Live() {
					f.end(c, 255)
				}
				return nil
			})
		}
	}
	stops.Wait()
	f.Up()
}

// listed is the container's line in a list.
func (c *fakeContainer) listed() dockertools.Container {
	line := c.Container
	line.Labels = maps.Clone(c.Labels)
	line.Ports = slices.Clone(c.Ports)
	since := func(t time.Time) string { return units.HumanDuration(time.Since(t)) }
	switch c.ListState {
	case dockertools.StateCreated:
		line.Status = "Created"
	case dockertools.StateRunning:
		line.Status = "Up " + since(c.Details.StartedAt)
	case dockertools.StatePaused:
		line.Status = "Up " + since(c.Details.StartedAt) + " (Paused)"
	case dockertools.StateExited:
		line.Status = fmt.Sprintf("Exited (%d) %s ago", c.Details.ExitCode, since(c.Details.FinishedAt))
	}
	return line
}
