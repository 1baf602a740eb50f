package kubelet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// notes is a list that several goroutines write to.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) check(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Equal(n.lines, want) {
		t.Errorf("happened: %q\nwanted:   %q", n.lines, want)
	}
}

// inWorkers runs a test in a bubble with podWorkers that end with it.
func inWorkers(t *testing.T, test func(t *testing.T, p *podWorkers)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPodWorkers(ctx)
		test(t, p)
		cancel()
		p.Wait()
	})
}

func once(f func()) podWork {
	return func(context.Context) time.Time { f(); return time.Time{} }
}

func TestABusyWorkerRunsTheNewestRequestNext(t *testing.T) {
	inWorkers(t, func(t *testing.T, p *podWorkers) {
		var n notes
		release := make(chan struct{})
		p.Run("pod", once(func() { <-release; n.add("first") }))
		synctest.Wait()
		p.Run("pod", once(func() { n.add("second, overtaken") }))
		p.Run("pod", once(func() { n.add("third") }))
		synctest.Wait()
		n.check(t)
		close(release)
		synctest.Wait()
		n.check(t, "first", "third")
		if p.Has("pod") {
			t.Error("the worker is still there when its work is done")
		}
	})
}

func TestOnePodHoldsBackNoOther(t *testing.T) {
	inWorkers(t, func(t *testing.T, p *podWorkers) {
		var n notes
		release := make(chan struct{})
		p.Run("stuck", once(func() { <-release }))
		p.Run("other", once(func() { n.add("other") }))
		synctest.Wait()
		n.check(t, "other")
		close(release)
	})
}

func TestAWorkerDoesItAgainAtItsTime(t *testing.T) {
	inWorkers(t, func(t *testing.T, p *podWorkers) {
		var n notes
		start := time.Now()
		runs := 0
		p.Run("pod", func(context.Context) time.Time {
			n.add("at %v", time.Since(start))
			if runs++; runs == 3 {
				return time.Time{}
			}
			return time.Now().Add(time.Minute)
		})
		time.Sleep(time.Hour) // of the bubble's clock
		n.check(t, "at 0s", "at 1m0s", "at 2m0s")
	})
}

func TestARequestEndsTheWaitForATime(t *testing.T) {
	inWorkers(t, func(t *testing.T, p *podWorkers) {
		var n notes
		start := time.Now()
		p.Run("pod", func(context.Context) time.Time { n.add("patient"); return start.Add(time.Hour) })
		time.Sleep(time.Minute)
		p.Run("pod", once(func() { n.add("at %v", time.Since(start)) }))
		time.Sleep(2 * time.Hour)
		n.check(t, "patient", "at 1m0s")
	})
}

func TestAPanicFreesTheWorker(t *testing.T) {
	inWorkers(t, func(t *testing.T, p *podWorkers) {
		var n notes
		p.Run("pod", once(func() { panic("a bug") }))
		synctest.Wait()
		p.Run("pod", once(func() { n.add("works again") }))
		synctest.Wait()
		n.check(t, "works again")
	})
}

func TestWorkersEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPodWorkers(ctx)
		var n notes
		p.Run("waits for its time", func(context.Context) time.Time { return time.Now().Add(time.Hour) })
		p.Run("works", func(ctx context.Context) time.Time { <-ctx.Done(); n.add("saw the end"); return time.Now() })
		synctest.Wait()
		cancel()
		p.Wait()
		n.check(t, "saw the end")
	})
}
