package client

import (
	"context"
	"fmt"
	"io"
	"time"
)

const clearScreen = "\x1b[H\x1b[2J" // after the cursor is at its top

// Watch writes the table of status and its error, and again when they change, until ctx is done. On a terminal it clears the
// screen before. Elsewhere tables with the same tag are the same, unless it is empty. An error without a table ends it at first.
func Watch(ctx context.Context, out io.Writer, terminal bool, interval time.Duration,
	status func(context.Context) (table, tag string, err error)) error {
	for last := ""; ; {
		text, tag, err := status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case last == "" && text == "" && err != nil:
			return err
		case err != nil:
			text += "\n" + err.Error() + "\n"
		}
		seen := text
		if !terminal && tag != "" {
			seen = tag
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
		case <-time.After(interval):
		}
	}
}
