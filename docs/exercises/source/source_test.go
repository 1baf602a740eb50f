//go:build exercise

package source

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/config"
)

func TestSourceBrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var source config.Source = config.NewSourceBrief()
		updates := make(chan api.PodUpdate)
		running.Go(func() { source.Run(ctx, updates) })
		if first := <-updates; first.Op != api.SET || len(first.Pods) != 1 {
			t.Errorf("the first update is %s with %d pods, and should be SET with one", first.Op, len(first.Pods))
		}
		began := time.Now()
		if second := <-updates; second.Op != api.SET || len(second.Pods) != 0 || time.Since(began) != time.Minute {
			t.Errorf("after %v comes %s with %d pods, and after a minute should come an empty SET", time.Since(began), second.Op, len(second.Pods))
		}
	})
}
