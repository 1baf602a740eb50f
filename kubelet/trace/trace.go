// Package trace keeps what happened to the pods recently, so that it can be replayed: what the
// sources sent, why the sync loop woke, what it saw and decided, and what workers did.
//
//	sources, Mux, podStorage ─┐
//	sync loop, workers ───────┼─ Add ─▶ Trace ─ Changes ─▶ Change.Tell ─▶ stages with sentences
//	events of Docker ─────────┘
//
// Nothing depends on it, and it is lost with the kubelet. No event has the value of an environment variable.
package trace

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"kubelet14/kubelet/watch"
)

// What a Trace keeps.
const (
	maxChanges     = 20
	maxChangeBytes = 512 << 10
	maxTraceBytes  = 2 << 20 // of all changes
)

// Kind is the kind of an Event.
type Kind int

// The kinds, in the order in which a change passes them.
const (
	Read   Kind = iota // a source has read its manifests
	Send               // and sends all of its pods
	Mux                // the Mux has received them
	Merge              // podStorage has compared them with the last ones
	Update             // and sends what differs
	Apply              // the loop has a new desired state
	List               // it asks Docker for its list
	Listed             // and has it
	Skip               // a pod is skipped: its worker is busy; only told, never added
	Plan               // a pod is not as desired
	Wait               // a person has to allow its plan
	Idle               // it is as desired
	Work               // its worker begins
	Begin              // an action begins
	End                // and ends
	Docker             // an event of Docker
	Ended              // the worker has ended
	Cut                // more happened, which was not kept; only told, never added
)

func (k Kind) String() string {
	return [...]string{"read", "send", "mux", "merge", "update", "apply", "list", "listed", "skip", "plan", "wait", "idle", "work", "begin", "end", "event", "ended", "cut"}[k]
}

// Event is one thing that happened. Which fields it has depends on its kind.
type Event struct {
	Time      time.Time
	Kind      Kind
	Source    string
	Place     string
	Op        string // SET, UPDATE, create, start, stop or remove
	Pod       string // full name
	Container string
	Attempt   int
	Reason    string       // of List: what wakes the loop
	Change    watch.Change // of Apply
	Error     string
	Phase     string
	N         int
	Inspected int
	Took      time.Duration
	Pods      []string // full names; of listed: those whose workers were busy
	Changed   []string // what was edited, or full names of pods
	Rows      []Row

	Ms   int64  // of a stage that is told: since the first
	Busy string // of a stage: the pods whose workers are busy
}

// Row is a container: as it is desired, as it is, and what is to be done.
type Row struct {
	Container string
	Desired   string
	Version   string // a letter; empty: it is not desired
	Sign      string // "=" or "≠"; "?": the two were not compared yet
	Observed  []Attempt
	Plan      []Act
	Changed   []string // in the manifest, since the version that is there: names of fields
}

// Attempt is a container that Docker has.
type Attempt struct {
	Attempt  int
	State    string
	Message  string // how it has ended
	Version  string // a letter
	Unlisted bool   // a worker has made it so, and no list has shown it yet

	since time.Time // of Unlisted
}

// Act is an action of a plan.
type Act struct {
	Step     int // from 1
	Do       string
	Attempt  int
	Reason   string
	Progress string // doing, done or failed
}

// Change is what happened between two moments of rest.
type Change struct {
	Number  uint64
	Times   int // how many times it has happened
	Dropped int // number of events left out, for lack of space
	Events  []Event

	bytes int // of the events
}

// Trace keeps the last changes. Its methods may be called concurrently.
type Trace struct {
	versions versions // has a lock of its own

	mu      sync.Mutex
	last    []Change         // guarded by mu, like all below; newest first, and replaced as a whole
	open    Change           // what has happened since the last rest
	because []string         // what woke the loop since its last list
	looking time.Time        // when that began
	coming  bool             // a source has sent an update that the loop has not applied yet
	busy    int              // workers
	again   bool             // another sync follows the current one: a worker is busy, or was when it began
	found   map[string]Event // the last apply, plan or wait of each pod that has not rested since
}

// Follows reports whether something has happened to a pod since it last rested.
func (t *Trace) Follows(pod string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, follows := t.found[pod]
	return follows
}

// Changes returns the last changes that have come to rest, newest first. The caller must not modify them.
func (t *Trace) Changes() []Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.last)
}

// Add records an event with the current time.
func (t *Trace) Add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Time = time.Now()
	switch e.Kind {
	case Send, Update:
		t.coming = true
	case List:
		if n := len(t.open.Events); n > 2 && t.open.Events[n-1].Kind == Listed && t.open.Events[n-3].Kind == Listed {
			for _, e := range t.open.Events[n-2:] {
				t.open.bytes -= e.bytes()
			}
			t.open.Events = t.open.Events[:n-2] // it has found nothing
		}
		e.Reason, t.because = strings.Join(t.because, " and "), nil
		t.looking = e.Time
	case Listed:
		e.Took, t.again = e.Time.Sub(t.looking), len(e.Pods) > 0
	case Docker:
		if n := len(t.open.Events); n > 0 && t.open.Events[n-1].Kind == Docker && t.open.Events[n-1].Container == e.Container {
			return // Docker tells several for one action
		}
	case Apply, Plan, Wait:
		if last := t.found[e.Pod]; e.Kind == Wait && last.Kind == Wait && reflect.DeepEqual(last.Rows, e.Rows) {
			return // still
		}
		if t.found == nil {
			t.found = map[string]Event{}
		}
		if t.found[e.Pod] = e; len(e.Rows) == 0 { // a pod that came and went between two syncs
			delete(t.found, e.Pod)
		}
	case Idle:
		delete(t.found, e.Pod)
	case Work:
		t.busy++
		t.again = true
	case Ended:
		t.busy--
	}
	if n := t.open.bytes + e.bytes(); t.open.Dropped == 0 && n <= maxChangeBytes {
		t.open.Events, t.open.bytes = append(t.open.Events, e), n
	} else {
		t.open.Dropped++
	}
	if e.Kind == Merge && len(e.Changed) == 0 {
		t.coming = false
		t.rest()
	}
}

// rest ends the open change, unless a worker is busy. A change that repeats another one replaces it. A change in which
// the loop only looked, and one that is none, is dropped.
func (t *Trace) rest() {
	if t.busy > 0 {
		return
	}
	open := t.open
	t.open = Change{}
	looks := []Kind{Docker, List, Listed, Idle, Update}
	last := t.last
	if !slices.ContainsFunc(open.Events, func(e Event) bool { return !slices.Contains(looks, e.Kind) }) || open.isNone(last) {
		return
	}
	if open.Number, open.Times = 1, 1; len(last) > 0 {
		open.Number += last[0].Number
		edited := slices.ContainsFunc(open.Events, func(e Event) bool { return e.Kind == Apply })
		if i := open.like(last); !edited && i >= 0 {
			if open.Times = last[i].Times; !last[i].waits() || open.waits() { // else this carries out the plan that waited
				open.Times++
			}
			last = slices.Delete(slices.Clone(last), i, i+1)
		}
	}
	bytes := open.bytes
	for i, c := range last {
		if bytes += c.bytes; bytes > maxTraceBytes || i == maxChanges-1 {
			last = last[:i]
			break
		}
	}
	t.last = append([]Change{open}, last...)
}

// bytes estimates the memory of an event.
func (e *Event) bytes() int {
	return int(reflect.TypeFor[Event]().Size()) + pointsTo(reflect.ValueOf(e).Elem())
}

// pointsTo returns the size of the texts and slices in a value.
func pointsTo(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		bytes = v.Len() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			bytes += pointsTo(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += pointsTo(v.Field(i))
		}
	}
	return bytes
}
