package words

import (
	"context"
	"flag"
)

// diff plans with the settings of the kubelet that runs, or with those that are given alone.
func diff(*flag.FlagSet) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		f, err := c.settings("-dry_run", "-step=false")
		if err != nil {
			return err
		}
		if code := c.CarryOut(ctx, f); code != 0 {
			return exitCode(code)
		}
		return nil
	}
}
