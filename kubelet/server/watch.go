package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	watchInterval = time.Second
	clearScreen   = "\x1b[H\x1b[2J" // after the cursor is at its top
)

var errNotModified = errors.New("the table has not changed")

// Watch writes the table of Status, and again when it changes, until ctx is done. On a terminal the times count on; elsewhere
// they alone are no change. It returns an error if no kubelet answers at first.
func (c *Client) Watch(ctx context.Context, out io.Writer, terminal bool) error {
	c.onlyChanges = !terminal
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
		if text != last && !errors.Is(err, errNotModified) {
			before := ""
			if terminal {
				before = clearScreen
			} else if last != "" {
				before = "\n"
			}
			if _, err := fmt.Fprint(out, before, text); err != nil {
				return err
			}
			last = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}
