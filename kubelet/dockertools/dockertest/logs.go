package dockertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
)

// Print makes the process of a container print a text. Docker ends a line that has no
// end.
func (d *fakeDocker) Print(container string, stderr bool, text string) error {
	return d.change(container, func(c *fakeContainer) error {
		if !c.State.Live() {
			return fmt.Errorf("container %s is not running", c.ID)
		}
		c.print(stderr, text)
		return nil
	})
}

func (c *fakeContainer) print(stderr bool, text string) {
	for line := range strings.Lines(text) {
		c.log = append(c.log, dockertools.LogLine{Time: time.Now(), Stderr: stderr, Text: []byte(strings.TrimSuffix(line, "\n") + "\n")})
	}
	if c.printed != nil {
		close(c.printed)
		c.printed = nil
	}
}

// Logs asks the daemon for what is new whenever there is something.
func (f *Fake) Logs(ctx context.Context, id string, opts dockertools.LogOptions, each func(dockertools.LogLine) error) error {
	var enough error
	err := f.call(ctx, "Logs", id, func(ctx context.Context) error {
		if !opts.Stdout && !opts.Stderr {
			return errors.New("neither stdout nor stderr is asked for")
		}
		reading := &fakeLogReading{opts: opts}
		if err := f.change(id, reading.begin); err != nil {
			return err
		}
		for {
			lines, printed := reading.take(f.fakeDocker)
			for _, line := range lines {
				if enough = each(line); enough != nil {
					return enough
				}
			}
			if printed == nil {
				return nil
			}
			select {
			case <-printed:
			case <-reading.ended:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	if enough != nil {
		return enough
	}
	return err
}

// fakeLogReading is one that reads a log.
type fakeLogReading struct {
	opts  dockertools.LogOptions
	c     *fakeContainer
	next  int           // of the container's lines
	ended chan struct{} // closed when the process is over that is followed; nil when none is
}

// begin finds where to begin. The mutex is held.
func (r *fakeLogReading) begin(c *fakeContainer) error {
	r.c = c
	if r.opts.Tail >= 0 {
		r.next = max(0, len(c.log)-r.opts.Tail)
	}
	if r.opts.Follow && c.State.Live() {
		r.ended = c.ended
	}
	return nil
}

// take gives the lines that were not read, and a channel that is closed when there
// are more; nil when there will be none.
func (r *fakeLogReading) take(d *fakeDocker) (lines []dockertools.LogLine, printed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, line := range r.c.log[r.next:] {
		wanted := r.opts.Stdout
		if line.Stderr {
			wanted = r.opts.Stderr
		}
		if wanted && !line.Time.Before(r.opts.Since) {
			line.Text = bytes.Clone(line.Text)
			lines = append(lines, line)
		}
	}
	r.next = len(r.c.log)
	select {
	case <-r.ended:
		return lines, nil
	default:
	}
	if r.ended == nil {
		return lines, nil
	}
	if r.c.printed == nil {
		r.c.printed = make(chan struct{})
	}
	return lines, r.c.printed
}
