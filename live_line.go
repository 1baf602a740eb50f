package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"kubelet14/kubelet"
)

// showPulls keeps a line on the terminal that says how far the pulls are, until
// ctx is done or it is stopped. Where standard error is no terminal, the log says
// it now and then.
func showPulls(ctx context.Context, kl *kubelet.Kubelet) (stop func()) {
	if !isTerminal(os.Stderr) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		const eraseLine = "\r\x1b[K"
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		shown := ""
		for {
			line := kl.Pulling()
			if ctx.Err() != nil {
				line = ""
			}
			if line != shown {
				// The cursor goes back, so that the log writes over the line.
				fmt.Fprintf(os.Stderr, "%s%.*s\r", eraseLine, 79, line)
			}
			shown = line
			select {
			case <-tick.C:
			case <-ctx.Done():
				if shown == "" {
					return
				}
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
