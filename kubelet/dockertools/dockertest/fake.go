package dockertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"kubelet14/kubelet/dockertools"
)

var _ dockertools.Interface = (*Fake)(nil)

// Fake is a Docker in memory, for tests: it keeps real state (names, ports,
// networks, processes) and answers as the real one does. Each method does what
// its comment in Interface says.
//
// A test can lose, delay and count the calls of Interface: SetFault, StopAfter, Down,
// Up, Calls. It can also act as a user of Docker does, without faults: Kill, Pause,
// Print, Write, RunStranger, TagImage, BuildImage, AddNetwork, Connect, Disconnect, and the Interface that ByHand
// returns.
//
// All times are those of time.Now and SetClock, and nothing happens but by calls and timers,
// so a test can make a Fake in a testing/synctest bubble and let hours pass. All
// methods may be called by any number of goroutines.
type Fake struct {
	*fakeDocker
	byHand bool
}

// NewFake makes a Docker without images or containers.
func NewFake() *Fake {
	d := &fakeDocker{
		containers: map[string]*fakeContainer{},
		images:     map[string]*fakeImage{},
		networks:   map[string]bool{"bridge": false, "host": false, "none": false},
		remote:     map[string]*remoteImage{},
		watchers:   map[chan dockertools.Event]map[string]string{}, pullWatchers: map[chan string]map[string]string{},
		calls: map[string]int{},
	}
	d.up, d.down = context.WithCancel(context.Background())
	return &Fake{fakeDocker: d}
}

// ByHand returns the same Docker without faults and without counting, as for a user
// of the docker command.
func (f *Fake) ByHand() dockertools.Interface { return &Fake{f.fakeDocker, true} }

// Call is one call of Interface on its way to a Fake.
type Call struct {
	N         int    // 1 for the first of this Fake, over all methods
	Method    string // such as "StartContainer"
	Container string // its name, else what the caller asked for, such as an image; empty when the call is about neither
}

// Fault is what happens to a call. The zero Fault is nothing.
type Fault struct {
	Delay  time.Duration // wait so long before the call reaches Docker; the caller's ctx ends it
	Before error         // the call does not reach Docker, and this is its answer
	After  error         // the call is carried out, its answer is lost, and this comes instead

	then func() // called once the call has been carried out; nil is nothing
}

var (
	errUnreachable = fmt.Errorf("cannot reach Docker: %w", syscall.ECONNREFUSED)
	errStopped     = errors.New("the caller was stopped")
)

// SetFault calls fault for each call from now on; nil ends that. It is called without
// a lock, on the caller's goroutine, and may call any method of the Fake but those of
// Interface: a fault can also be that a container dies between two calls.
func (d *fakeDocker) SetFault(fault func(Call) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// StopAfter kills the caller after its n-th changing call from now on: it calls stop,
// which should cancel the caller's context; that call returns an error, and later ones
// fail and do nothing. It lasts until SetFault or StopAfter is called again:
// StopAfter(0, nil) is for a new caller. A test that does this for n = 1, 2, 3 … until
// stop is no longer called has killed the caller after every step.
func (d *fakeDocker) StopAfter(n int, stop func()) {
	if stop == nil {
		d.SetFault(nil)
		return
	}
	changing := []string{"CreateContainer", "StartContainer", "StopContainer", "RemoveContainer", "Exec", "ImportImage", "PullImage", "RemoveImage",
		"MakeNetwork", "RemoveNetwork"}
	var mu sync.Mutex
	d.SetFault(func(c Call) Fault {
		mu.Lock()
		defer mu.Unlock()
		if n == 0 {
			return Fault{Before: errStopped}
		}
		if slices.Contains(changing, c.Method) {
			n--
		}
		if n > 0 {
			return Fault{}
		}
		return Fault{After: errStopped, then: stop}
	})
}

// SetClock makes the times that Docker records from now on those of time.Now and so much more. The
// clock of a host that was so much ahead is set back by SetClock(0).
func (d *fakeDocker) SetClock(ahead time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ahead = ahead
}

func (d *fakeDocker) now() time.Time { return time.Now().Add(d.ahead) }

// Calls returns how often each method was called, failed calls included.
func (d *fakeDocker) Calls() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.calls)
}

// Down makes the daemon unreachable: every call fails, also one that is waiting.
// Containers keep running.
func (d *fakeDocker) Down() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down()
}

// Up makes the daemon reachable again.
func (d *fakeDocker) Up() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.up.Err() != nil {
		d.up, d.down = context.WithCancel(context.Background())
	}
}

// call carries one call over the wire, and names it and its object in its error.
func (f *Fake) call(ctx context.Context, method, object string, do func(context.Context) error) error {
	if f.byHand {
		return do(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	f.total++
	f.calls[method]++
	c := Call{f.total, method, object}
	if found, err := f.find(object); err == nil {
		c.Container = found.Name
	}
	ask, up := f.fault, f.up
	f.mu.Unlock()

	var fault Fault
	if ask != nil {
		fault = ask(c)
	}
	if err := pass(ctx, up, fault, do); err != nil {
		return fmt.Errorf("%s %q: %w", method, c.Container, err)
	}
	return nil
}

func pass(ctx, up context.Context, fault Fault, do func(context.Context) error) error {
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
	err := do(ctx)
	if fault.then != nil {
		fault.then()
	}
	if fault.After != nil {
		return fault.After
	}
	if up.Err() != nil { // the daemon went away in the middle
		return errUnreachable
	}
	return err
}

// ask is call for what has an answer, which is lost with an error. do is called
// with the mutex held.
func ask[T any](ctx context.Context, f *Fake, method, object string, do func() (T, error)) (T, error) {
	var answer, none T
	err := f.call(ctx, method, object, func(context.Context) (err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		answer, err = do()
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}
