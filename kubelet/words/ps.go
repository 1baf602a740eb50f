package words

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"kubelet14/api"
	"kubelet14/kubelet/options"
)

func ps(fs *flag.FlagSet) func(context.Context, *call) error {
	form := fs.String("o", "table", "`form`: table, json, or name for the full names alone")
	watch := fs.Bool("w", false, "print the table again when it changes, until Ctrl-C")
	return func(ctx context.Context, c *call) error {
		f, err := c.settings("-status", "-step=false")
		if err != nil {
			return err
		}
		f.Watch = *watch
		switch {
		case *form == "table":
			return Status(ctx, f, c.Out, c.Terminal)
		case *watch:
			return errors.New("-w is for the table: leave out -o")
		case *form != "json" && *form != "name":
			return fmt.Errorf("-o=%s: give table, json or name", *form)
		}
		cl, pods, err := c.pods(ctx)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(map[string]any{"items": pods}, "", "  ")
		if text = append(text, '\n'); *form == "name" {
			text = nil
			for _, p := range pods {
				text = fmt.Appendln(text, p.FullName())
			}
		}
		_, printErr := fmt.Fprint(c.Out, api.Printable(string(text)))
		_, statusErr := cl.Status(ctx)
		return errors.Join(err, printErr, statusErr)
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
