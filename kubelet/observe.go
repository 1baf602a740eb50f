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
	cleanup  bool // see checkConflict
	logOnce  func(what string, err error)

	mu      sync.Mutex
	records map[string]*containerRecord // by container id
}

// containerRecord is what the observer knows of one container.
type containerRecord struct {
	listed  bool   // it was in the last list
	key     string // the part of the list that the details belong to
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
// to work without the root_dir of its volumes; the other error is that of checkConflict.
func (o *observer) list(ctx context.Context) ([]dockertools.Owned, error) {
	if o.volumes != nil {
		if err := o.volumes.Check(); err != nil {
			return nil, err
		}
	}
	all, err := o.docker.ListContainers(ctx, map[string]string{dockertools.LabelName: ""})
	if err != nil {
		return nil, err
	}
	var list []dockertools.Owned
	for _, c := range all {
		if own, ok := o.identity.Own(c); ok {
			list = append(list, own)
		}
	}
	if err := o.checkConflict(all, list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b dockertools.Owned) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// checkConflict returns an *dockertools.IdentityConflictError if there are containers of a
// kubelet with the same hostname or root_dir. Of two with one hostname that were started side
// by side, only the one whose oldest container is younger gets it, and the other logs it. With
// another root_dir it does not hinder a cleanup, which removes nothing of the other's.
func (o *observer) checkConflict(all []dockertools.Container, own []dockertools.Owned) error {
	conflict := o.identity.CheckConflict(all)
	harmless := func(c dockertools.Container) bool {
		isFirst := slices.ContainsFunc(own, func(mine dockertools.Owned) bool {
			return cmp.Or(mine.Created.Compare(c.Created), cmp.Compare(mine.ID, c.ID)) < 0
		})
		return c.Labels[dockertools.LabelRootDir] != o.identity.RootDir && (o.cleanup || isFirst)
	}
	if conflict != nil {
		if err := o.identity.CheckConflict(slices.DeleteFunc(slices.Clone(all), harmless)); err != nil {
			return err
		}
	}
	if !o.cleanup {
		o.logOnce("look for other kubelets", conflict)
	}
	return nil
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
	errs := make([]error, len(list))
	slots := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i, c := range list {
		key := string(c.State) + endpoints[c.Of.PodFullName]
		if c.State.Ended() { // "Exited (1) a minute ago": the age changes, the exit code does not
			exit, _, _ := strings.Cut(c.Status, ")")
			key += exit
		}
		r, known := o.known(c.ID, key)
		if known {
			errs[i] = r.err
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = catchPanic("inspect container "+c.Name, func() error { return o.inspectContainer(ctx, c, r, key) })
			<-slots
		})
	}
	wg.Wait()

	o.mu.Lock()
	defer o.mu.Unlock()
	observed, podErrs := map[string][]plan.Observed{}, map[string]error{}
	listed := map[string]bool{}
	for i, c := range list {
		listed[c.ID] = true
		pod := c.Of.PodFullName
		switch {
		case errs[i] == nil:
			observed[pod] = append(observed[pod], o.records[c.ID].observed(c))
		case !errors.Is(errs[i], dockertools.ErrNoSuchContainer): // else it was removed after the list
			podErrs[pod] = cmp.Or(podErrs[pod], errs[i])
		}
	}
	maps.DeleteFunc(o.records, func(id string, r *containerRecord) bool {
		removed := r.listed && !listed[id] // a container that was never listed may be newer than the list
		r.listed = listed[id]
		return removed
	})
	return observed, podErrs
}

// known returns the record of a container, and whether it need not be inspected. Otherwise
// the details are marked as up to date: an event during the inspect makes them stale again.
func (o *observer) known(id, key string) (r *containerRecord, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r = o.record(id)
	if time.Now().Before(r.retryAt) || r.key == key && !r.stale {
		return r, true
	}
	r.stale, r.err, r.retryAt = false, nil, time.Time{}
	return r, false
}

// inspectContainer inspects a container and records the answer.
func (o *observer) inspectContainer(ctx context.Context, c dockertools.Owned, r *containerRecord, key string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, fmt.Errorf("inspect container %q: no answer from Docker within %v", c.Name, inspectLimit))
	defer cancel()
	details, err := o.docker.InspectContainer(ctx, c.ID)
	message := ""
	if err == nil && details.State.Ended() {
		message = r.message
		if !details.FinishedAt.Equal(r.details.FinishedAt) {
			message = o.terminationMessage(ctx, &plan.Observed{Owned: c, Details: details})
		}
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil && ctx.Err() != nil:
		r.stale, r.err, r.retryAt = true, context.Cause(ctx), time.Now().Add(inspectRetry)
		return r.err
	case err != nil:
		r.stale = true
		return err
	case details.State != c.State:
		key = "" // the list is older: neither these details nor those before belong to the next list
	}
	if !details.StartedAt.Equal(r.startedAt) && !r.startedAt.IsZero() {
		r.outOfMemory, r.killed = false, plan.Problem{}
	}
	r.key, r.details, r.message, r.startedAt = key, details, message, details.StartedAt
	return nil
}

// observed returns a container of a list with all that is known of it.
func (r *containerRecord) observed(c dockertools.Owned) plan.Observed {
	const exitCodeSIGKILL = 128 + 9
	o := plan.Observed{Owned: c, Details: r.details, Killed: r.killed, TerminationMessage: r.message}
	o.OOMKilled = o.OOMKilled || r.outOfMemory && o.State.Ended() && o.ExitCode == exitCodeSIGKILL
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
		o.record(id).outOfMemory = true
	}
	for known, r := range o.records {
		if id == "" || id == known {
			r.stale = true
		}
	}
}

// noteKilled records why the kubelet has stopped a container.
func (o *observer) noteKilled(id string, why plan.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.record(id).killed = why
}
