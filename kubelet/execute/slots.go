package execute

import (
	"context"
	"runtime"
	"sync"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// slots limits the creations and starts in progress. A start mostly waits, so there may be more of them than
// cores, but too many slow down the host.
type slots struct {
	once sync.Once
	free chan struct{}
}

// slotLimit is how long a creation or start holds a slot. One that takes longer waits for something else, and
// must not hold up the others.
const slotLimit = 5 * time.Second

// slot waits for a free slot, or until ctx is done.
func (e *Executor) slot(ctx context.Context, a plan.Action) (release func()) {
	e.starts.once.Do(func() { e.starts.free = make(chan struct{}, max(8, 4*runtime.NumCPU())) })
	defer e.Doing.Begin(a, api.ReasonCreating, "other containers are being started before it")()
	select {
	case e.starts.free <- struct{}{}:
		release = sync.OnceFunc(func() { <-e.starts.free })
		time.AfterFunc(slotLimit, release)
		return release
	case <-ctx.Done():
		return func() {}
	}
}
