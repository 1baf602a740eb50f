// Package observe looks at a kubelet's containers: one list for all of them, and an inspect for
// each that has changed by the list or by an event.
package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// An inspect that takes longer than InspectLimit fails, and is not tried again before
// InspectRetry or an event: one broken container delays the others by that much and no more.
const (
	InspectLimit = 10 * time.Second
	InspectRetry = time.Minute
)

// Options are what an Observer works with.
type Options struct {
	Docker   dockertools.Interface
	Identity dockertools.Identity
	Volumes  *volume.RootDir // may be nil
	LogOnce  func(what string, err error)
}

// Observer looks at the containers of one kubelet. Its methods may be called concurrently, but
// Inspect by one goroutine only.
type Observer struct {
	Cleanup bool // set before the first List, see dockertools.Identity.CheckConflict
	opts    Options

	mu      sync.Mutex
	records map[string]*record // guarded by mu; by container id
}

// New returns an Observer that has seen nothing.
func New(opts Options) *Observer { return &Observer{opts: opts, records: map[string]*record{}} }

// record is what the observer knows of one container besides its entry in the list.
// Observer.mu guards its fields, but the first three are Inspect's own.
type record struct {
	listed  bool                // it was in the last list
	err     error               // of the last inspect
	times   map[int64]time.Time // what Docker has reported, see steady
	key     string              // its part of the list at the last inspect; empty: inspect again
	seen    plan.Observed       // what inspects have told, and why this kubelet stopped it
	retryAt time.Time           // not to inspect again before
	oom     bool                // out of memory, by an event of this life of the container; on a busy host an inspect never tells
}

// List returns this kubelet's containers, ordered by pod, container and attempt. It fails
// without the root_dir of its volumes, and if another kubelet has its hostname or root_dir.
func (o *Observer) List(ctx context.Context) ([]dockertools.Listed, error) {
	if o.opts.Volumes != nil {
		if err := o.opts.Volumes.Check(); err != nil {
			return nil, err
		}
	}
	all, err := o.opts.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return nil, err
	}
	list := make([]dockertools.Listed, 0, len(all))
	for _, c := range all {
		if own, ok := o.opts.Identity.Own(c); ok {
			list = append(list, own)
		}
	}
	conflict, err := o.opts.Identity.CheckConflict(all, o.Cleanup)
	if err != nil {
		return nil, err
	}
	if !o.Cleanup {
		o.opts.LogOnce("look for other kubelets", conflict)
	}
	slices.SortFunc(list, func(a, b dockertools.Listed) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// Inspect completes a list with what only an inspect tells. It returns the containers and
// the error of each pod by full name. Only containers that have changed are inspected. A dead
// attempt that is not the newest and cannot be inspected is left out: a repair does not need it.
func (o *Observer) Inspect(ctx context.Context, list []dockertools.Listed) (map[string][]plan.Observed, map[string]error) {
	var inspects errgroup.Group
	inspects.SetLimit(16)
	for _, c := range list {
		key := string(c.State) + c.Endpoint // a network container that is restarted has another one
		if c.State.Ended() {                // "Exited (1) a minute ago": the age changes, the exit code does not
			exit, _, _ := strings.Cut(c.Status, ")")
			key += exit
		}
		if r, upToDate := o.lookup(c.ID, key); !upToDate {
			inspects.Go(func() error {
				r.err = panics.Catch("inspect container "+c.Name, func() error { return o.inspectContainer(ctx, c, r) })
				return nil
			})
		}
	}
	inspects.Wait()

	o.mu.Lock()
	defer o.mu.Unlock()
	observed, errs := map[string][]plan.Observed{}, map[string]error{}
	listed, old := map[string]bool{}, []error{}
	for i, c := range list {
		listed[c.ID] = true
		pod, r := c.Of.PodFullName, o.records[c.ID]
		switch {
		case r.err == nil:
			observed[pod] = append(observed[pod], r.observed(c))
		case errors.Is(r.err, dockertools.ErrNoSuchContainer): // it was removed after the list
		case c.State.Ended() && hasNewer(list, i):
			old = append(old, r.err)
		default:
			errs[pod] = cmp.Or(errs[pod], r.err)
		}
	}
	o.opts.LogOnce("inspect old containers", errors.Join(old...))
	maps.DeleteFunc(o.records, func(id string, r *record) bool {
		removed := r.listed && !listed[id] // a container that was never listed may be newer than the list
		r.listed = listed[id]
		return removed
	})
	return observed, errs
}

// hasNewer reports whether a container in a list is followed by a newer attempt.
func hasNewer(list []dockertools.Listed, i int) bool {
	if i+1 == len(list) {
		return false
	}
	a, b := list[i].Of, list[i+1].Of
	return a.PodFullName == b.PodFullName && a.Name == b.Name && a.UID == b.UID
}

// lookup returns the record of a container, and whether it need not be inspected. Otherwise
// it is marked as up to date already: an event during the inspect makes it stale again.
func (o *Observer) lookup(id, key string) (r *record, upToDate bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r = o.record(id)
	if r.key == key && r.err == nil || time.Now().Before(r.retryAt) {
		return r, true
	}
	r.key = key
	return r, false
}

// inspectContainer inspects a container and records the answer.
func (o *Observer) inspectContainer(ctx context.Context, c dockertools.Listed, r *record) error {
	ctx, cancel := context.WithTimeoutCause(ctx, InspectLimit, fmt.Errorf("inspect container %q: no answer from Docker within %v", c.Name, InspectLimit))
	defer cancel()
	details, err := o.opts.Docker.InspectContainer(ctx, c.ID)
	details.StartedAt, details.FinishedAt = r.steady(details.StartedAt), r.steady(details.FinishedAt)
	message := ""
	if err == nil && details.State.Ended() {
		message = r.seen.TerminationMessage
		if !details.FinishedAt.Equal(r.seen.FinishedAt) {
			message = o.terminationMessage(ctx, &plan.Observed{Listed: c, Inspected: details})
		}
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		if ctx.Err() != nil && r.key != "" { // no answer, and no event meanwhile
			r.retryAt = time.Now().Add(InspectRetry)
		}
		return cmp.Or(context.Cause(ctx), err)
	}
	if details.State != c.State { // it has changed since: inspect it again, even if the next list is like this one
		r.key = ""
	}
	if started := r.seen.StartedAt; !started.IsZero() && !started.Equal(details.StartedAt) { // started again by hand
		r.oom, r.seen.Killed = false, plan.Problem{}
	}
	r.seen.Inspected, r.seen.TerminationMessage = details, message
	return nil
}

// observed returns a container of a list with all that is known of it.
func (r *record) observed(c dockertools.Listed) plan.Observed {
	const exitCodeSIGKILL = 128 + 9
	o := r.seen
	o.Listed, o.Created = c, r.steady(c.Created)
	o.OOMKilled = o.OOMKilled || r.oom && o.State.Ended() && o.ExitCode == exitCodeSIGKILL
	return o
}

// steady returns a time that Docker has reported as one of the monotonic clock, so that it stays as long
// ago when the host's clock is set. The future counts as now.
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
	if o.records[id] == nil {
		o.records[id] = &record{times: map[int64]time.Time{}}
	}
	return o.records[id]
}

// Changed records an event of a container. The next inspect does not rely on what is known
// of it, or of any container if the id is empty.
func (o *Observer) Changed(id string, outOfMemory bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if outOfMemory {
		o.record(id).oom = true
	}
	for known, r := range o.records {
		if id == "" || id == known {
			r.key, r.retryAt = "", time.Time{}
		}
	}
}

// NoteKilled records why the kubelet has stopped a container.
func (o *Observer) NoteKilled(id string, why plan.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.record(id).seen.Killed = why
}
