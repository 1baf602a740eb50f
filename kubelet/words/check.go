package words

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"kubelet14/api"
	"kubelet14/config"
	"kubelet14/kubelet/options"
)

func check(*flag.FlagSet) func(context.Context, *call) error {
	return func(_ context.Context, c *call) error {
		f, err := options.Parse(c.Version, append(c.given, "-status")) // which needs nothing of the host
		if err != nil {
			return err
		}
		parser := c.Parser(f)
		parser.Warn = func(warning string) { fmt.Fprintln(c.Err, "warning: "+api.Printable(warning)) }
		files, pods, err := config.Check(parser, c.args, c.In)
		if err != nil {
			return errors.New(api.WithExcerpts(err))
		}
		_, err = fmt.Fprintf(c.Out, "%s in %s: all are taken\n", api.Count(len(pods), "pod"), api.Count(files, "file"))
		return err
	}
}
