package observe

import (
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// record is what the observer knows of one container besides its entry in the list.
// Observer.mu guards its fields, but the first three are Inspect's own.
type record struct {
	unlisted bool                // not in the last list: the container is newer, or it is gone and an event came late
	err      error               // of the last inspect
	times    map[int64]time.Time // what Docker has reported, see steady
	key      string              // its entry in the list at the last inspect; empty: inspect again
	seen     plan.Observed       // as inspected, with the reason why this kubelet stopped it
	retryAt  time.Time           // no inspect before, unless key changes
	life     life
}

// life is what happened to a container since it started.
type life struct {
	stops  bool // this kubelet began to stop it
	signal bool // somebody else sent it a signal
	oom    bool // an event reported that it ran out of memory; a busy Docker may never report it in an inspect
}

// observed returns a listed container with everything known about it.
func (r *record) observed(c dockertools.Listed) plan.Observed {
	const exitCodeSIGKILL = 128 + 9
	o := r.seen
	o.Listed, o.Created = c, r.steady(c.Created)
	o.Signalled = r.life.signal && o.State.Ended()
	o.OOMKilled = o.OOMKilled || r.life.oom && o.State.Ended() && o.ExitCode == exitCodeSIGKILL
	return o
}

// steady puts a time from Docker on the monotonic clock, so that its age stays right when the host's clock
// is set. A time in the future counts as now.
func (r *record) steady(reported time.Time) time.Time {
	if reported.IsZero() {
		return reported
	}
	at, known := r.times[reported.UnixNano()]
	if !known {
		now := time.Now()
		at = now.Add(-max(0, now.Sub(reported)))
		r.times[reported.UnixNano()] = at
	}
	return at
}

// record returns the record of a container. The caller holds o.mu.
func (o *Observer) record(id string) *record {
	if o.records == nil {
		o.records = map[string]*record{}
	}
	if o.records[id] == nil {
		o.records[id] = &record{times: map[int64]time.Time{}}
	}
	return o.records[id]
}

// Changed records an event: the container is inspected again at the next sync. An empty id stands for all containers.
func (o *Observer) Changed(id string, outOfMemory bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if outOfMemory {
		o.record(id).life.oom = true
	}
	for known, r := range o.records {
		if id == "" || id == known {
			r.key = ""
		}
	}
}

// RecordStop records that this kubelet is stopping a container.
func (o *Observer) RecordStop(id string) { o.update(id, func(r *record) { r.life.stops = true }) }

// RecordSignal records that Docker sent a container a signal.
func (o *Observer) RecordSignal(id string) {
	o.update(id, func(r *record) { r.life.signal = !r.life.stops })
}

// RecordKilled records why this kubelet stopped a container.
func (o *Observer) RecordKilled(id string, why plan.Problem) {
	o.update(id, func(r *record) { r.seen.Killed = why })
}

func (o *Observer) update(id string, change func(*record)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(o.record(id))
}
