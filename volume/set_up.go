package volume

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"kubelet14/kubelet/panics"
)

// setUpLimit is how long it may take to set up a volume.
const setUpLimit = 10 * time.Second

// SetUps sets up volumes, and waits at most ten seconds for each. Its method may be called concurrently.
type SetUps struct{ running singleflight.Group }

// SetUp calls v.SetUp. A system call to a dead file server cannot be ended, so after the limit v.SetUp
// keeps running, and the next call for the same volume waits for its answer.
func (s *SetUps) SetUp(ctx context.Context, v Interface) error {
	key := fmt.Sprint(v)
	answer := s.running.DoChan(key, func() (any, error) { return nil, panics.Catch(key, v.SetUp) })
	ctx, cancel := context.WithTimeoutCause(ctx, setUpLimit, fmt.Errorf("no answer from its file system within %v", setUpLimit))
	defer cancel()
	select {
	case a := <-answer:
		return a.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
