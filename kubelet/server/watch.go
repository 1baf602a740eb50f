package server

import (
	"context"
	"fmt"
	"io"
	"time"
)

const (
	watchInterval = time.Second
	clearScreen   = "\x1b[H\x1b[2J" // after the cursor is at its top
)

// Watch writes the table of Status, and again when it changes, until ctx is done. On a terminal the times count on; elsewhere
// they alone are no change. It returns an error if no kubelet answers at first.
func (c *Client) Watch(ctx context.Context, out io.Writer, terminal bool) error {
	for last := ""; ; {
		text, err := c.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case last == "" && text == "" && err != nil:
			return err
		case err != nil:
			text += "\n" + err.Error() + "\n"
		}
		seen := text
		if !terminal && c.tag != "" {
			seen = c.tag
		}
		if seen != last {
			before := ""
			if terminal {
				before = clearScreen
			} else if last != "" {
				before = "\n"
			}
			if _, err := fmt.Fprint(out, before, text); err != nil {
				return err
			}
			last = seen
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}
