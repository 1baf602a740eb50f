package kubelet

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
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// An inspect that takes longer than inspectLimit fails, and is not tried again before
// inspectRetry or an event: one broken container delays the others by that much and no more.
const (
	inspectLimit = 10 * time.Second
	inspectRetry = time.Minute
)

// observer looks at this kubelet's containers: one list for all of them, and an inspect for
// each that has changed.
type observer struct {
	docker   dockertools.Interface
	identity dockertools.Identity
	volumes  *volume.RootDir
	cleanup  bool // see dockertools.Identity.CheckConflict
	logOnce  func(what string, err error)

	mu      sync.Mutex
	records map[string]*containerRecord // by container id
}

// containerRecord is what the observer knows of one container besides its entry in the list.
type containerRecord struct {
	listed  bool          // it was in the last list
	key     string        // its part of the list at the last inspect; empty: inspect again
	seen    plan.Observed // what inspects have told, and why this kubelet stopped it
	err     error         // of the last inspect
	retryAt time.Time     // not to inspect again before
	oom     bool          // out of memory, by an event of this life of the container; on a busy host an inspect never tells
}

// list returns this kubelet's containers, ordered by pod, container and attempt. It fails
// without the root_dir of its volumes, and if another kubelet has its hostname or root_dir.
func (o *observer) list(ctx context.Context) ([]dockertools.Listed, error) {
	if o.volumes != nil {
		if err := o.volumes.Check(); err != nil {
			return nil, err
		}
	}
	all, err := o.docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return nil, err
	}
	list := make([]dockertools.Listed, 0, len(all))
	for _, c := range all {
		if own, ok := o.identity.Own(c); ok {
			list = append(list, own)
		}
	}
	conflict, err := o.identity.CheckConflict(all, o.cleanup)
	if err != nil {
		return nil, err
	}
	if !o.cleanup {
		o.logOnce("look for other kubelets", conflict)
	}
	slices.SortFunc(list, func(a, b dockertools.Listed) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// inspect completes a list with what only an inspect tells. It returns the containers and
// the error of each pod by full name. Only containers that have changed are inspected.
func (o *observer) inspect(ctx context.Context, list []dockertools.Listed) (map[string][]plan.Observed, map[string]error) {
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
				r.err = catchPanic("inspect container "+c.Name, func() error { return o.inspectContainer(ctx, c, r) })
				return nil
			})
		}
	}
	inspects.Wait()

	o.mu.Lock()
	defer o.mu.Unlock()
	observed, errs := map[string][]plan.Observed{}, map[string]error{}
	listed := map[string]bool{}
	for _, c := range list {
		listed[c.ID] = true
		pod, r := c.Of.PodFullName, o.records[c.ID]
		switch {
		case r.err == nil:
			observed[pod] = append(observed[pod], r.observed(c))
		case !errors.Is(r.err, dockertools.ErrNoSuchContainer): // else it was removed after the list
			errs[pod] = cmp.Or(errs[pod], r.err)
		}
	}
	maps.DeleteFunc(o.records, func(id string, r *containerRecord) bool {
		removed := r.listed && !listed[id] // a container that was never listed may be newer than the list
		r.listed = listed[id]
		return removed
	})
	return observed, errs
}

// lookup returns the record of a container, and whether it need not be inspected. Otherwise
// it is marked as up to date already: an event during the inspect makes it stale again.
func (o *observer) lookup(id, key string) (r *containerRecord, upToDate bool) {
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
func (o *observer) inspectContainer(ctx context.Context, c dockertools.Listed, r *containerRecord) error {
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, fmt.Errorf("inspect container %q: no answer from Docker within %v", c.Name, inspectLimit))
	defer cancel()
	details, err := o.docker.InspectContainer(ctx, c.ID)
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
			r.retryAt = time.Now().Add(inspectRetry)
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
func (r *containerRecord) observed(c dockertools.Listed) plan.Observed {
	const exitCodeSIGKILL = 128 + 9
	o := r.seen
	o.Listed = c
	o.OOMKilled = o.OOMKilled || r.oom && o.State.Ended() && o.ExitCode == exitCodeSIGKILL
	return o
}

// record returns the record of a container. The caller holds o.mu.
func (o *observer) record(id string) *containerRecord {
	if o.records[id] == nil {
		o.records[id] = &containerRecord{}
	}
	return o.records[id]
}

// changed records an event of a container. The next inspect does not rely on what is known
// of it, or of any container if the id is empty.
func (o *observer) changed(id string, outOfMemory bool) {
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

// noteKilled records why the kubelet has stopped a container.
func (o *observer) noteKilled(id string, why plan.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.record(id).seen.Killed = why
}
