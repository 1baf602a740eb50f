package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// An inspect that takes longer than inspectLimit fails, and is not tried again before
// inspectRetry: one broken container delays the others by that much and no more.
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

	mu      sync.Mutex
	records map[string]*containerRecord // by container id
}

// containerRecord is what the observer knows of one container.
type containerRecord struct {
	key     string // the parts of the list that the details belong to
	stale   bool   // the details may be out of date
	details dockertools.Details
	message string // see plan.Observed.TerminationMessage
	err     error  // of an inspect that took too long
	retryAt time.Time

	// Docker does not keep these. They are about one life of the container: somebody may
	// start it again.
	startedAt   time.Time
	outOfMemory bool         // from an event; on a busy host an inspect never tells
	killed      plan.Problem // see plan.Observed.Killed
}

// list returns this kubelet's containers, ordered by pod, container and attempt. It refuses
// to work next to the containers of a kubelet with the same hostname or root_dir.
func (o *observer) list(ctx context.Context) ([]dockertools.Owned, error) {
	all, err := o.docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return nil, err
	}
	if err := o.identity.CheckHalves(all); err != nil {
		return nil, err
	}
	var list []dockertools.Owned
	for _, c := range all {
		if own, ok := o.identity.Own(c); ok {
			list = append(list, own)
		}
	}
	slices.SortFunc(list, func(a, b dockertools.Owned) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// inspect completes a list with what only an inspect tells. It returns the containers and
// the error of each pod by full name. Only containers that have changed are inspected.
func (o *observer) inspect(ctx context.Context, list []dockertools.Owned) (map[string][]plan.Observed, map[string]error) {
	// A network container that is restarted gets a new endpoint; then every container of
	// its pod is inspected again.
	endpoints := map[string]string{}
	for i := range list {
		endpoints[list[i].Of.PodFullName] += list[i].Endpoint
	}
	found, errs := make([]plan.Observed, len(list)), make([]error, len(list))
	slots := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i, c := range list {
		key := string(c.State) + endpoints[c.Of.PodFullName]
		if c.State.Ended() { // "Exited (1) a minute ago": the age changes, the exit code does not
			exit, _, _ := strings.Cut(c.Status, ")")
			key += exit
		}
		known, ok := o.lookup(c.ID, key)
		if ok {
			found[i], errs[i] = plan.Observed{Owned: c, Details: known.details, TerminationMessage: known.message}, known.err
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = catchPanic("inspect container "+c.Name, func() (err error) {
				found[i], err = o.inspectContainer(ctx, c, key)
				return err
			})
		})
	}
	wg.Wait()

	observed, podErrs := map[string][]plan.Observed{}, map[string]error{}
	o.forgetOthers(list)
	for i, c := range list {
		pod := c.Of.PodFullName
		switch {
		case errors.Is(errs[i], dockertools.ErrNoSuchContainer): // it was removed after the list
		case errs[i] != nil:
			podErrs[pod] = cmp.Or(podErrs[pod], errs[i])
		default:
			o.addNotes(&found[i])
			observed[pod] = append(observed[pod], found[i])
		}
	}
	return observed, podErrs
}

// lookup returns the record of a container unless it must be inspected. It then marks the
// details as current: an event during the inspect makes them stale again.
func (o *observer) lookup(id, key string) (known containerRecord, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.record(id)
	if r.err != nil && time.Now().Before(r.retryAt) || r.err == nil && r.key == key && !r.stale {
		return *r, true
	}
	r.stale, r.err = false, nil
	return *r, false
}

// inspectContainer inspects one container and records the answer.
func (o *observer) inspectContainer(ctx context.Context, c dockertools.Owned, key string) (plan.Observed, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, fmt.Errorf("inspect container %q: no answer from Docker within %v", c.Name, inspectLimit))
	defer cancel()
	details, err := o.docker.InspectContainer(ctx, c.ID)
	observed := plan.Observed{Owned: c, Details: details}

	o.mu.Lock()
	before := *o.record(c.ID)
	o.mu.Unlock()
	switch {
	case err != nil || !details.State.Ended():
	case details.FinishedAt.Equal(before.details.FinishedAt):
		observed.TerminationMessage = before.message
	default:
		observed.TerminationMessage = o.terminationMessage(ctx, &observed)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.record(c.ID)
	switch {
	case err == nil && details.State == c.State:
		r.key, r.details, r.message = key, details, observed.TerminationMessage
	case err == nil: // the list is older, and neither these details nor the ones before belong to the next
		r.key, r.details, r.message = "", details, observed.TerminationMessage
	default:
		r.stale = true
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			r.err, r.retryAt = err, time.Now().Add(inspectRetry)
		}
	}
	return observed, err
}

// record returns the record of a container. The caller holds o.mu.
func (o *observer) record(id string) *containerRecord {
	r := o.records[id]
	if r == nil {
		r = &containerRecord{}
		o.records[id] = r
	}
	return r
}

// forgetOthers drops the records of containers that are not in the list.
func (o *observer) forgetOthers(list []dockertools.Owned) {
	o.mu.Lock()
	defer o.mu.Unlock()
	records := map[string]*containerRecord{}
	for i := range list {
		records[list[i].ID] = o.record(list[i].ID)
	}
	o.records = records
}

// addNotes adds to a container what the kubelet knows and Docker does not.
func (o *observer) addNotes(c *plan.Observed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.record(c.ID)
	if !r.startedAt.Equal(c.StartedAt) {
		if !r.startedAt.IsZero() {
			r.outOfMemory, r.killed = false, plan.Problem{}
		}
		r.startedAt = c.StartedAt
	}
	const exitCodeSIGKILL = 128 + 9
	c.OOMKilled = c.OOMKilled || r.outOfMemory && c.State.Ended() && c.ExitCode == exitCodeSIGKILL
	c.Killed = r.killed
}

// changed records an event of a container. The next inspect does not rely on what is known
// of it, or of any container if the id is empty.
func (o *observer) changed(id string, outOfMemory bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id != "" {
		r := o.record(id)
		r.stale, r.outOfMemory = true, r.outOfMemory || outOfMemory
		return
	}
	for _, r := range o.records {
		r.stale = true
	}
}

// noteKilled records why the kubelet has stopped a container.
func (o *observer) noteKilled(id string, why plan.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.record(id).killed = why
}
