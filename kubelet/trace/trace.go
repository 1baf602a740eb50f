// Package trace keeps what has happened to the pods of late, for people who want to see it again:
// what the sources sent, why the sync loop woke, what it saw and decided, and what workers did.
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

	"kubelet14/api"
)

// What a Trace keeps.
const (
	maxChanges      = 20
	maxChangeEvents = 400 // of a change
)

// Event is one thing that happened. Which fields it has depends on its kind.
type Event struct {
	Time      time.Time
	Kind      string // read, send, mux, merge, update, apply, list, listed, skip, plan, wait, idle, work, begin, end, event or ended
	Source    string
	Place     string
	Op        string // SET, UPDATE, create, start, stop or remove
	Pod       string // full name
	Container string
	Attempt   int
	Because   string // what woke the loop
	Reason    string
	Error     string
	Phase     string
	N         int
	TookMs    float64
	Pods      []string // full names
	Changed   []string // names of fields, or full names of pods
	Rows      []Row
}

// Row is a container: as it is desired, as it is, and what is to be done.
type Row struct {
	Container string
	Desired   string
	Sign      string // "=" or "≠"; "?": the two were not compared yet
	Observed  []Attempt
	Plan      []Act
	Changed   []string // in the manifest: names of fields
}

// Attempt is a container that Docker has.
type Attempt struct {
	Attempt  int
	State    string
	Message  string // how it has ended
	Other    bool   // it was made of another version of the manifest
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
	Times   int // how often it has happened in a row
	Dropped int // events that were too many
	Events  []Event
}

// Trace keeps the last changes. Its methods may be called concurrently, and do nothing on a nil Trace.
type Trace struct {
	mu      sync.Mutex
	last    []Change // guarded by mu, like all below; oldest first
	open    Change   // without events: rest
	look    []Event  // of the sync that goes on, until it finds something
	because []string // what has woken the loop since its last list
	coming  bool     // a source has sent something that the loop has not applied
	busy    int      // pieces of work, and actions of them
	again   bool     // the sync that goes on is not the last: a worker is busy, or was when it began
	follows map[string]bool
	waiting map[string][]Row        // by pod
	began   map[[3]string]time.Time // by pod, container and action
}

// lock reports whether there is a trace, and locks it.
func (t *Trace) lock() bool {
	if t != nil {
		t.mu.Lock()
	}
	return t != nil
}

// Because notes what wakes the sync loop.
func (t *Trace) Because(word string) {
	if !t.lock() {
		return
	}
	defer t.mu.Unlock()
	if word == api.SET.String() || word == api.UPDATE.String() {
		t.coming = false
	}
	if !slices.Contains(t.because, word) {
		t.because = append(t.because, word)
	}
}

// Follows reports whether something has happened to a pod, and it was not seen at rest since then.
func (t *Trace) Follows(pod string) bool {
	if !t.lock() {
		return false
	}
	defer t.mu.Unlock()
	return t.follows[pod]
}

// Add records an event. Its time and its numbers are filled in.
func (t *Trace) Add(e Event) {
	if !t.lock() {
		return
	}
	defer t.mu.Unlock()
	if t.follows == nil {
		t.follows, t.waiting, t.began = map[string]bool{}, map[string][]Row{}, map[[3]string]time.Time{}
	}
	e.Time = time.Now()
	of := [3]string{e.Pod, e.Container, e.Op}
	switch e.Kind {
	case "send", "update":
		t.coming = true
	case "list":
		e.Because, t.because = strings.Join(t.because, " and "), nil
		t.look, t.again = []Event{e}, false
		return
	case "event":
		if n := len(t.open.Events); n > 0 && t.open.Events[n-1].Kind == "event" && t.open.Events[n-1].Container == e.Container {
			return // Docker tells several for one action
		}
	case "apply", "plan":
		t.follows[e.Pod] = true
		delete(t.waiting, e.Pod)
	case "wait":
		if reflect.DeepEqual(t.waiting[e.Pod], e.Rows) {
			return
		}
		t.waiting[e.Pod] = e.Rows
	case "idle":
		delete(t.follows, e.Pod)
		delete(t.waiting, e.Pod)
	case "work", "begin":
		t.busy++
		t.again = true
		t.began[of] = e.Time
	case "ended", "end":
		t.busy--
		e.TookMs = ms(e.Time.Sub(t.began[of]))
		delete(t.began, of)
	}
	if slices.Contains([]string{"plan", "wait", "idle"}, e.Kind) { // the look has found something
		t.keep(t.look...)
		t.look = nil
	}
	if t.keep(e); e.Kind == "merge" && len(e.Changed) == 0 {
		t.coming = false
		t.rest()
	}
}

// Looked records the end of the look that the last event "list" began, and the pods whose workers were busy then.
func (t *Trace) Looked(containers int, busy []string) {
	if !t.lock() {
		return
	}
	defer t.mu.Unlock()
	now := time.Now()
	t.look = append(t.look, Event{Kind: "listed", Time: now, N: containers, TookMs: ms(now.Sub(t.look[0].Time))})
	if t.again = len(busy) > 0; !t.again {
		return
	}
	if n := len(t.open.Events); n > 0 && t.open.Events[n-1].Kind == "skip" && slices.Equal(t.open.Events[n-1].Pods, busy) {
		return // still
	}
	t.keep(append(t.look, Event{Kind: "skip", Time: now, Pods: busy})...)
	t.look = nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// keep adds events to the change that goes on.
func (t *Trace) keep(events ...Event) {
	for _, e := range events {
		if len(t.open.Events) == 0 {
			t.open = Change{Number: t.open.Number + 1, Times: 1}
		}
		if len(t.open.Events) == maxChangeEvents {
			t.open.Dropped++
			continue
		}
		t.open.Events = append(t.open.Events, e)
	}
}

// Synced ends a sync.
func (t *Trace) Synced() {
	if !t.lock() {
		return
	}
	defer t.mu.Unlock()
	if t.look = nil; !t.again && !t.coming {
		t.rest()
	}
}

// rest ends the change that goes on, unless a worker is busy. One that repeats the one before replaces it. One in which the loop
// only looked is forgotten.
func (t *Trace) rest() {
	if t.busy > 0 || len(t.open.Events) == 0 {
		return
	}
	open := t.open
	t.open = Change{Number: open.Number}
	looks := []string{"event", "list", "listed", "skip", "idle", "update"}
	if !slices.ContainsFunc(open.Events, func(e Event) bool { return !slices.Contains(looks, e.Kind) }) {
		return
	}
	slices.SortStableFunc(open.Events, func(a, b Event) int { return a.Time.Compare(b.Time) })
	edited := slices.ContainsFunc(open.Events, func(e Event) bool { return e.Kind == "apply" })
	if n := len(t.last); n > 0 && !edited && t.last[n-1].Title() == open.Title() {
		open.Times += t.last[n-1].Times
		t.last = t.last[:n-1]
	}
	t.last = append(t.last[max(0, len(t.last)-maxChanges+1):], open)
}

// Changes returns the last changes that have come to rest, the newest first. They must not be changed.
func (t *Trace) Changes() []Change {
	if !t.lock() {
		return nil
	}
	defer t.mu.Unlock()
	changes := slices.Clone(t.last)
	slices.Reverse(changes)
	return changes
}

// HideRows returns rows without what may quote the output of a container.
func HideRows(rows []Row, by string) []Row {
	rows = each(rows, func(a *Attempt) { a.Message = "" })
	for _, row := range rows {
		for i := range row.Plan {
			row.Plan[i].Reason = by
		}
	}
	return rows
}
