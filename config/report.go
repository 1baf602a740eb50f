package config

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// Source is a place that pods come from; see the package's comment for what Run
// must do.
type Source interface {
	// Run sends what it finds until ctx is done. It is called once.
	Run(ctx context.Context, updates chan<- api.PodUpdate)
	// Status may be called by any goroutine at any time.
	Status() api.SourceStatus
}

// reporter says what a source has found: to the log, in the status, and to
// whoever receives its updates.
type reporter struct {
	title  string // for the log
	source string
	place  string

	logged  error          // the latest error about the source as a whole that was logged
	offered *api.PodUpdate // the latest update meant for the receiver; nil at first

	mu     sync.Mutex
	status api.SourceStatus
}

// Status implements Source.
func (r *reporter) Status() api.SourceStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := r.status
	status.Source, status.Place = r.source, r.place
	return status
}

// report takes what a read at the time now has found: the parts, and what is wrong
// with the source as a whole. It logs what is new, and returns the update that
// says it, or nil when the receiver has been told.
func (r *reporter) report(now time.Time, parts []*part, whole error) *api.PodUpdate {
	logChange(&r.logged, r.title, r.place, whole, "all pods stay as they were")
	update := api.PodUpdate{Op: api.SET}
	errs := []error{whole}
	for _, p := range parts {
		update.Pods = append(update.Pods, p.held...)
		errs = append(errs, p.err)
		effect := "the pods of " + p.place + " stay as they were"
		if len(p.held) == 0 {
			effect = "no pods of " + p.place + " are known"
		}
		logChange(&p.logged, r.title, p.place, p.err, effect)
	}
	update.Err = errors.Join(errs...)
	r.note(now, len(update.Pods), update.Err)
	if r.offered != nil && sameText(update.Err, r.offered.Err) && reflect.DeepEqual(update.Pods, r.offered.Pods) {
		return nil
	}
	r.offered = &update
	return &update
}

// note keeps the status up to date.
func (r *reporter) note(now time.Time, pods int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Pods = pods
	if err == nil {
		r.status.LastSuccess, r.status.FailingSince = now, time.Time{}
		return
	}
	r.status.LastError, r.status.LastErrorAt = err.Error(), now
	if r.status.FailingSince.IsZero() {
		r.status.FailingSince = now
	}
}

// send waits until the update, if there is one, has been received or ctx is done.
func send(ctx context.Context, updates chan<- api.PodUpdate, update *api.PodUpdate) {
	if update == nil {
		return
	}
	select {
	case updates <- *update:
	case <-ctx.Done():
	}
}

// logChange logs an error about a place, and what comes of it, when it appears or
// changes, and once more when it is mended.
func logChange(logged *error, title, place string, err error, effect string) {
	switch {
	case sameText(err, *logged):
	case err == nil:
		glog.Infof("%s: %s is read again", title, place)
	default:
		glog.Errorf("%s: %s: %s", title, effect, api.WithExcerpts(err))
	}
	*logged = err
}
