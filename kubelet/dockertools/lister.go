package dockertools

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Lister gives the workers of all pods one view of Docker. A worker must not
// decide on a list that is older than its own last action, and a hundred workers
// that ask at once must not cost a hundred lists. So they ask for a list begun
// after a Mark, and whoever asks while a fresh enough one is on its way shares
// it.
//
// A Lister may be used by any number of goroutines.
type Lister struct {
	docker Interface
	id     Identity

	mu      sync.Mutex
	clock   Mark
	last    *listCall // the newest that succeeded; nil before the first
	running *listCall // nil when none is on its way

	// What inspects said, so that a sync in which nothing has changed makes none.
	known   map[string]knownDetails // by container id
	starved map[string]Mark         // containers that ran out of memory, and when an event told so
	forgets int                     // how often Forget was called, so that an inspect that was on its way is not kept
}

type knownDetails struct {
	key     string
	details Details
}

// Mark is a moment in the life of a Lister. It counts moments rather than
// nanoseconds, so that two of them are never the same.
type Mark uint64

// listCall is one list, asked for by its leader and shared by all who wait.
type listCall struct {
	began Mark
	done  chan struct{} // closed by the leader when all below is set
	owned []Owned
	err   error
	left  bool // the leader did not wait for the answer
}

// NewLister makes a Lister of the containers of one kubelet.
func NewLister(docker Interface, id Identity) *Lister {
	return &Lister{docker: docker, id: id, known: map[string]knownDetails{}, starved: map[string]Mark{}}
}

// Mark is now. Whatever happened on Docker before it is in a list begun after it.
func (l *Lister) Mark() Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	return l.clock
}

// List returns this kubelet's containers, dead ones too, as a list begun after
// since saw them: ordered by pod, container and attempt. The caller must not
// change it.
func (l *Lister) List(ctx context.Context, since Mark) ([]Owned, error) {
	for {
		l.mu.Lock()
		if l.last != nil && l.last.began > since {
			defer l.mu.Unlock()
			return l.last.owned, nil
		}
		call := l.running
		if call == nil {
			l.clock++
			call = &listCall{began: l.clock, done: make(chan struct{})}
			l.running = call
			l.mu.Unlock()
			l.lead(ctx, call)
			return call.owned, call.err
		}
		l.mu.Unlock()

		select {
		case <-call.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		// The leader's own end is no answer for those who shared its call.
		if call.began > since && call.err != nil && !call.left {
			return nil, call.err
		}
	}
}

// lead makes the call for all who wait for it.
func (l *Lister) lead(ctx context.Context, call *listCall) {
	call.err = errors.New("list containers: it panicked")
	defer l.finish(ctx, call) // after a panic too: others wait
	call.owned, call.err = l.fetch(ctx)
}

// finish tells all who wait what the call has brought.
func (l *Lister) finish(ctx context.Context, call *listCall) {
	call.left = ctx.Err() != nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = nil
	if call.err == nil {
		l.last = call
		known := map[string]knownDetails{} // of what is still there
		for _, o := range call.owned {
			if d, ok := l.known[o.ID]; ok {
				known[o.ID] = d
			}
		}
		l.known = known
		maps.DeleteFunc(l.starved, func(id string, since Mark) bool {
			return since < call.began && !slices.ContainsFunc(call.owned, func(o Owned) bool { return o.ID == id })
		})
	}
	close(call.done)
}

func (l *Lister) fetch(ctx context.Context) ([]Owned, error) {
	all, err := l.docker.ListContainers(ctx, l.id.Halves())
	if err != nil {
		return nil, err
	}
	owned := make([]Owned, 0, len(all))
	for _, c := range all {
		if o, ok := l.id.Own(c); ok {
			owned = append(owned, o)
		}
	}
	slices.SortFunc(owned, func(a, b Owned) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(b.Name, a.Name)) // one that awaits its hook is older than one of its number that does not
	})
	return owned, nil
}

// Details inspects a listed container, or remembers. The key must change whenever
// what the caller sees of the container and of its network does. What contradicts
// the list is not remembered: the next list may.
func (l *Lister) Details(ctx context.Context, o Owned, key string) (Details, error) {
	l.mu.Lock()
	known, ok := l.known[o.ID]
	forgets := l.forgets
	l.mu.Unlock()
	if ok && known.key == key {
		return known.details, nil
	}

	details, err := l.docker.InspectContainer(ctx, o.ID)
	if err != nil {
		return Details{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, starved := l.starved[o.ID]; starved && details.State.Ended() && details.ExitCode == killedExitCode {
		details.OOMKilled = true
	}
	if l.forgets == forgets && details.State == o.State {
		l.known[o.ID] = knownDetails{key, details}
	}
	return details, nil
}

// killedExitCode is that of a process that was ended by SIGKILL.
const killedExitCode = 128 + 9

// RanOutOfMemory notes an event that says so. On a busy host Docker hears of it after
// the container's end, and then its inspect never tells. The kernel may also have killed
// another process than the container's first: so it counts for a container that was
// killed. It lasts as long as the Lister.
func (l *Lister) RanOutOfMemory(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock++
	l.starved[id] = l.clock
}

// Forget makes the next look at a container ask Docker again; an empty id means
// every container, as after a gap in the events.
func (l *Lister) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgets++
	if id == "" {
		clear(l.known)
	} else {
		delete(l.known, id)
	}
}
