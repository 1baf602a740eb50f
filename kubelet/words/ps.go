package words

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"kubelet14/kubelet/options"
)

func ps(fs *flag.FlagSet) func(context.Context, *call) error {
	watch := fs.Bool("w", false, "print the table again when it changes, until Ctrl-C")
	return func(ctx context.Context, c *call) error {
		f, err := c.settings()
		if err != nil {
			return err
		}
		f.Watch = *watch
		return Status(ctx, f, c.Out, c.Terminal)
	}
}

// Status prints the table of the kubelet with these settings. It returns an error if a pod is not up, or if a source was not
// read and may have more pods. With -watch it prints the table until ctx is done.
func Status(ctx context.Context, f *options.Options, out io.Writer, terminal bool) error {
	c, err := clientOf(f)
	if err != nil {
		return err
	}
	if f.Watch {
		return c.Watch(ctx, out, terminal)
	}
	table, err := c.Status(ctx)
	if table != "" && c.Link != "" && terminal {
		table += "\nIn a browser: " + c.Link + "\n"
	}
	_, printErr := fmt.Fprint(out, table)
	return errors.Join(err, printErr)
}
