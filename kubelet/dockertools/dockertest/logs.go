package dockertest

import (
	"bytes"
	"cmp"
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
		if !c.ListState.Live() {
			return fmt.Errorf("container %s is not running", c.ID)
		}
		c.print(stderr, text)
		return nil
	})
}

type logLine struct {
	dockertools.LogLine
	stderr bool
}

func (c *fakeContainer) print(stderr bool, text string) {
	for line := range strings.Lines(text) {
		c.log = append(c.log, logLine{dockertools.LogLine{Time: time.Now(), Text: []byte(strings.TrimSuffix(line, "\n") + "\n")}, stderr})
	}
	close(c.printed)
	c.printed = make(chan struct{})
}

func (f *Fake) Logs(ctx context.Context, id string, opts dockertools.LogOptions, each func(dockertools.LogLine) error) error {
	var eachErr error
	err := f.call(ctx, "Logs", id, func(ctx context.Context) error {
		if !opts.Stdout && !opts.Stderr {
			return errors.New("neither stdout nor stderr is asked for")
		}
		var of *fakeContainer
		next := 0 // of its lines
		ended := make(chan struct{})
		if err := f.change(id, func(c *fakeContainer) error {
			of = c
			if opts.Tail >= 0 {
				next = max(0, len(c.log)-opts.Tail)
			}
			if opts.Follow && c.ListState.Live() {
				ended = c.ended
			} else {
				close(ended)
			}
			return nil
		}); err != nil {
			return err
		}
		for over := false; ; {
			f.mu.Lock()
			lines, printed := of.log[next:], of.printed
			next = len(of.log)
			f.mu.Unlock()
			for _, line := range lines {
				wanted := line.stderr && opts.Stderr || !line.stderr && opts.Stdout
				if !wanted || line.Time.Before(opts.Since) {
					continue
				}
				line.Text = bytes.Clone(line.Text)
				if eachErr = each(line.LogLine); eachErr != nil {
					return eachErr
				}
			}
			if over {
				return nil
			}
			select {
			case <-printed:
			case <-ended:
				over = true // there may be lines that it printed before
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	return cmp.Or(eachErr, err)
}
