// Package observe looks at a kubelet's containers: one list for all of them, and an inspect of
// each that the list or an event shows to have changed.
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
	"kubelet14/kubelet/logs"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// An inspect that takes longer than InspectLimit fails. After two in a row none is made before InspectRetry or a change: one
// broken container delays the others by that much and no more, and a Docker that was frozen is asked again at once.
const (
	InspectLimit = 10 * time.Second
	InspectRetry = time.Minute
)

var errNoAnswer = fmt.Errorf("no answer from Docker within %v", InspectLimit)

// Observer looks at the containers of one kubelet. Its methods may be called concurrently, except
// Inspect, which is for one goroutine.
type Observer struct {
	Docker   dockertools.Interface
	Identity dockertools.Identity
	Volumes  *volume.RootDir // may be nil
	LogOnce  func(what string, err error)
	Cleanup  bool // see dockertools.Identity.CheckConflict

	mu      sync.Mutex
	records map[string]*record // guarded by mu; by container id
}

// List returns this kubelet's containers, ordered by pod, container and attempt. It fails
// without the root_dir of its volumes, and if another kubelet has its hostname or root_dir.
func (o *Observer) List(ctx context.Context) ([]dockertools.Listed, error) {
	if o.Volumes != nil {
		if err := o.Volumes.Check(); err != nil {
			return nil, err
		}
	}
	all, err := o.Docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return nil, err
	}
	list := make([]dockertools.Listed, 0, len(all))
	for _, c := range all {
		if own, ok := o.Identity.Own(c); ok {
			list = append(list, own)
		}
	}
	tolerated, err := o.Identity.CheckConflict(all, o.Cleanup)
	if err != nil {
		return nil, err
	}
	if !o.Cleanup {
		o.LogOnce("look for other kubelets", tolerated)
	}
	slices.SortFunc(list, func(a, b dockertools.Listed) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// Inspect completes a list with what only an inspect tells, and returns the containers and the error of each pod by full
// name. It inspects only those that have changed, and returns how many. It leaves out old dead attempts that it cannot inspect.
func (o *Observer) Inspect(ctx context.Context, list []dockertools.Listed) (observed map[string][]plan.Observed, inspected int, errs map[string]error) {
	var inspects errgroup.Group
	inspects.SetLimit(16)
	for _, c := range list {
		key := string(c.ListState) + c.Endpoint // a network container that is restarted has another one
		if c.ListState.Ended() {                // "Exited (1) a minute ago": the age changes, the exit code does not
			exit, _, _ := strings.Cut(c.Status, ")")
			key += exit
		}
		if r, upToDate := o.lookup(c.ID, key); !upToDate {
			inspected++
			inspects.Go(func() error {
				r.err = panics.Catch("inspect container "+c.Name, func() error { return o.inspectContainer(ctx, c, r) })
				return nil
			})
		}
	}
	inspects.Wait()

	o.mu.Lock()
	defer o.mu.Unlock()
	observed, errs = map[string][]plan.Observed{}, map[string]error{}
	listed, old := map[string]bool{}, []error{}
	for i, c := range list {
		listed[c.ID] = true
		pod, r, next := c.Of.PodFullName, o.records[c.ID], list[min(i+1, len(list)-1)].Of
		replaced := next.Attempt > c.Of.Attempt && next.Name == c.Of.Name && next.UID == c.Of.UID
		switch {
		case r.err == nil:
			observed[pod] = append(observed[pod], r.observed(c))
		case errors.Is(r.err, dockertools.ErrNoSuchContainer): // it was removed after the list
		case replaced && c.ListState.Ended(): // no repair needs it
			old = append(old, r.err)
		default:
			errs[pod] = cmp.Or(errs[pod], r.err)
		}
	}
	o.LogOnce("inspect old containers", errors.Join(old...))
	maps.DeleteFunc(o.records, func(id string, r *record) bool {
		gone := r.unlisted && !listed[id] // in one list alone: an event can be newer than the list
		r.unlisted = !listed[id]
		return gone
	})
	return observed, inspected, errs
}

// lookup returns the record of a container and whether it is up to date. If not, it is marked as
// up to date before the inspect, so that an event meanwhile makes it stale again.
func (o *Observer) lookup(id, key string) (r *record, upToDate bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r = o.record(id)
	if r.key == key && (r.err == nil || time.Now().Before(r.retryAt)) {
		return r, true
	}
	r.key, r.retryAt = key, time.Time{}
	return r, false
}

// inspectContainer inspects a container and records the answer.
func (o *Observer) inspectContainer(ctx context.Context, c dockertools.Listed, r *record) error {
	ctx, cancel := context.WithTimeoutCause(ctx, InspectLimit, fmt.Errorf("inspect container %q: %w", c.Name, errNoAnswer))
	defer cancel()
	details, err := o.Docker.InspectContainer(ctx, c.ID)
	details.StartedAt, details.FinishedAt = r.steady(details.StartedAt), r.steady(details.FinishedAt)
	message := ""
	if err == nil && details.State.Ended() {
		message = r.seen.TerminationMessage
		if !details.FinishedAt.Equal(r.seen.FinishedAt) {
			message = logs.TerminationMessage(ctx, o.Docker, o.Volumes, &plan.Observed{Listed: c, Inspected: details})
		}
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		if ctx.Err() != nil && errors.Is(r.err, errNoAnswer) { // the second in a row
			r.retryAt = time.Now().Add(InspectRetry)
		}
		return cmp.Or(context.Cause(ctx), err)
	}
	if details.State != c.ListState { // it has changed since: inspect it again, even if the next list is like this one
		r.key = ""
	}
	if started := r.seen.StartedAt; !started.IsZero() && !started.Equal(details.StartedAt) { // started again by hand
		r.life, r.seen.Killed = life{}, plan.Problem{}
	}
	r.seen.Inspected, r.seen.TerminationMessage = details, message
	return nil
}
