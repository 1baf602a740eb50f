package dockertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"kubelet14/kubelet/dockertools"
)

// ExecOutcome is the outcome of a command in a container. The zero ExecOutcome
// succeeds at once, without output.
type ExecOutcome struct {
	Output   string        // which it prints at once
	After    time.Duration // it ends, unless its container ends before
	ExitCode int
}

func (f *Fake) Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error) {
	begun := false
	err = f.call(ctx, "Exec", id, func(ctx context.Context) error {
		var outcome ExecOutcome
		var ended chan struct{}
		var running *int
		err := f.change(id, func(c *fakeContainer) error {
			switch {
			case c.ListState == dockertools.StatePaused:
				return fmt.Errorf("container %s is paused", c.ID)
			case c.ListState != dockertools.StateRunning:
				return fmt.Errorf("%w: %s is %s", dockertools.ErrNotRunning, c.ID, c.ListState)
			case len(command) == 0:
				return errors.New("no exec command specified")
			}
			ended = c.ended
			running = &c.commands
			*running++
			if c.program.Exec != nil {
				outcome = c.program.Exec(command)
			}
			return nil
		})
		if err != nil {
			return err
		}
		begun = true
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			*running--
		}()
		if _, err := io.WriteString(out, outcome.Output); err != nil {
			return err
		}
		select {
		case <-time.After(outcome.After):
			exitCode = outcome.ExitCode
		case <-ended: // all processes of a container are killed with its first
			exitCode = 137
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return nil
	})
	switch {
	case err == nil:
		return exitCode, nil
	case !begun:
		return 0, fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, err)
	}
	return 0, err // the fault After has lost the answer
}

// Commands returns the number of commands in a container beside its first process.
func (d *fakeDocker) Commands(container string) (n int, err error) {
	err = d.change(container, func(c *fakeContainer) error {
		n = c.commands
		return nil
	})
	return n, err
}

// sayLastWords writes the termination message to its mounted file, if that exists.
func (c *fakeContainer) sayLastWords() {
	for _, m := range c.Spec.Mounts {
		if c.program.LastWords == "" || m.ContainerPath != "/dev/termination-log" || m.ReadOnly {
			continue
		}
		if file, err := os.OpenFile(m.HostPath, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			file.WriteString(c.program.LastWords)
			file.Close()
		}
	}
}
