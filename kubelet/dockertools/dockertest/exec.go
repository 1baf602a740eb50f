package dockertest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// ExecOutcome is the outcome of a command in a container. The zero ExecOutcome
// succeeds at once, without output.
type ExecOutcome struct {
	Output   string        // which it prints at once
	Errors   string        // which it prints at once on stderr
	Repeats  bool          // then it prints each line that it reads, and each size of its terminal, until its input ends
	After    time.Duration // it ends, unless its container ends before
	ExitCode int
}

func (f *Fake) Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error) {
	return f.ExecWith(ctx, id, command, api.Streams{Stdout: out, Stderr: out})
}

func (f *Fake) ExecWith(ctx context.Context, id string, command []string, streams api.Streams) (exitCode int, err error) {
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
		if streams.Terminal {
			streams.Stderr = streams.Stdout
		}
		_, err = io.WriteString(streams.Stdout, outcome.Output)
		if err == nil && outcome.Errors != "" {
			_, err = io.WriteString(streams.Stderr, outcome.Errors)
		}
		if err == nil && outcome.Repeats {
			err = repeat(ctx, ended, streams)
		}
		if err != nil {
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

// repeat prints the lines and sizes that it reads until the input ends, its container does or ctx is done. A terminal echoes what is typed.
func repeat(ctx context.Context, ended <-chan struct{}, s api.Streams) error {
	lines, over := make(chan string), make(chan struct{})
	defer close(over)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(cmp.Or[io.Reader](s.Stdin, strings.NewReader(""))); in.Scan(); {
			select {
			case lines <- in.Text():
			case <-over:
				return
			}
		}
	}()
	for {
		text := ""
		select {
		case size := <-s.Resize:
			text = fmt.Sprintf("terminal of %d rows and %d columns\r\n", size.Rows, size.Columns)
		case line, more := <-lines:
			if !more || s.Terminal && line == "\x04" {
				return nil
			}
			text = line + "\n"
			if s.Terminal {
				text = line + "\r\n" + line + "\r\n"
			}
		case <-ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if _, err := io.WriteString(s.Stdout, text); err != nil {
			return err
		}
	}
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
