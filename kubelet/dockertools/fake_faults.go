package dockertools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"syscall"
	"time"
)

// Call is one call of Interface on its way to a Fake.
type Call struct {
	N         int    // 1 for the first of this Fake, over all methods
	Method    string // such as "StartContainer"
	Container string // its name, else what the caller asked for; empty when the call is about none

	changes bool // it may change what Docker holds
}

// Fault is what becomes of a call. The zero Fault lets it pass.
type Fault struct {
	Delay  time.Duration // wait so long before the call reaches Docker; the caller's ctx ends it
	Before error         // the call does not reach Docker, and this is its answer
	After  error         // the call is carried out, its answer is lost, and this comes instead
}

var (
	errUnreachable = fmt.Errorf("cannot reach Docker: %w", syscall.ECONNREFUSED)
	errStopped     = errors.New("the caller was stopped")
)

// fakeWire is the way from the code under test to the daemon. It alone counts
// calls and does them harm.
type fakeWire struct {
	docker *fakeDocker // to know containers by name

	mu    sync.Mutex
	up    context.Context // done while the daemon is down
	down  context.CancelFunc
	total int
	calls map[string]int // by method
	fault func(Call) Fault
	left  int    // how many changing calls may still be made before stop; see StopAfter
	stop  func() // nil: no limit
}

func newFakeWire(docker *fakeDocker) *fakeWire {
	w := &fakeWire{docker: docker, calls: map[string]int{}}
	w.up, w.down = context.WithCancel(context.Background())
	return w
}

// SetFault has fault asked, from now on, what becomes of each call; nil ends it.
// It is asked without a lock held, from the goroutine of the caller, and may call
// any method of the Fake but those of Interface: "the container dies between
// these two calls" is a fault function too.
func (w *fakeWire) SetFault(fault func(Call) Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// StopAfter plays the caller's sudden death: once the n-th changing call from now
// on has been carried out, stop is called (it should cancel the caller's
// context), and neither that call nor any later one succeeds or does anything.
// It lasts until StopAfter is called again: StopAfter(0, nil) lets a new caller
// work. A test that does this for n = 1, 2, 3 … until stop is no longer called
// has seen the caller die after every single step.
func (w *fakeWire) StopAfter(n int, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.stop = n, stop
}

// Calls says how often each method was called, in vain or not.
func (w *fakeWire) Calls() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.calls)
}

// Down makes every call fail as when the daemon is not there, also those that
// wait for something. Containers live on.
func (w *fakeWire) Down() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down()
}

// Up ends what Down began.
func (w *fakeWire) Up() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.up.Err() != nil {
		w.up, w.down = context.WithCancel(context.Background())
	}
}

// call passes one call on, and names it in its error.
func (w *fakeWire) call(ctx context.Context, c Call, do func(context.Context) error) error {
	if name := w.docker.nameOf(c.Container); name != "" {
		c.Container = name
	}
	if err := w.pass(ctx, c, do); err != nil {
		return fmt.Errorf("%s %q: %w", c.Method, c.Container, err)
	}
	return nil
}

func (w *fakeWire) pass(ctx context.Context, c Call, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, fault, up := w.enter(c)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(up, func() { cancel(errUnreachable) })()

	if fault.Delay > 0 {
		select {
		case <-time.After(fault.Delay):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if fault.Before != nil {
		return fault.Before
	}
	if up.Err() != nil {
		return errUnreachable
	}
	stop, err := w.admit(c)
	if err != nil {
		return err
	}
	err = do(ctx)
	switch {
	case stop != nil:
		stop()
		return errStopped
	case fault.After != nil:
		return fault.After
	case up.Err() != nil: // the daemon went away in the middle
		return errUnreachable
	}
	return err
}

// enter counts a call and asks what becomes of it.
func (w *fakeWire) enter(c Call) (Call, Fault, context.Context) {
	w.mu.Lock()
	w.total++
	w.calls[c.Method]++
	c.N = w.total
	ask, up := w.fault, w.up
	w.mu.Unlock()
	if ask == nil {
		return c, Fault{}, up
	}
	return c, ask(c), up
}

// admit refuses the calls of a dead caller. A stop to be called comes with the
// last call before its death.
func (w *fakeWire) admit(c Call) (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop == nil {
		return nil, nil
	}
	if w.left == 0 {
		return nil, errStopped
	}
	if !c.changes {
		return nil, nil
	}
	if w.left--; w.left == 0 {
		return w.stop, nil
	}
	return nil, nil
}
