// Package images pulls images in the background, each image once, however many pods need it.
// In 2014 each pod pulled for itself.
//
// A worker calls Require and does not wait. The end of a pull wakes the sync loop, and its
// next plan calls Require again.
package images

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/docker/go-units"
	"github.com/golang/glog"
	"golang.org/x/time/rate"

	"kubelet14/api"
	"kubelet14/api/backoff"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

const (
	maxPullBackoff  = 5 * time.Minute // after failed pulls of an image: 1 s, 2 s, 4 s, …
	logPullInterval = 5 * time.Second
	pullMemory      = 60 * time.Minute // longer than maxPullBackoff, within which a pod that needs the image asks again
)

// Puller pulls images. Every exported field must be set. Its methods may be called concurrently.
type Puller struct {
	Pull        func(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error
	Credentials func(ctx context.Context, image string) (dockertools.Auth, error)
	Limiter     *rate.Limiter // for starting pulls
	Done        func(took time.Duration, ok bool)
	Note        func(podFullName, container, reason, message string) // records an event
	Wake        func()                                               // called when a pull has ended

	wg    sync.WaitGroup
	mu    sync.Mutex
	pulls map[string]*pull // guarded by mu; by image; kept for at least pullMemory
}

// Wait waits until no pull is running. The contexts of all pulls must be done.
func (im *Puller) Wait() { im.wg.Wait() }

// pull is the current or latest pull of one image. Puller.mu guards its fields.
type pull struct {
	running  bool
	queued   bool // waiting for -registry_qps
	progress dockertools.PullProgress
	waiting  map[[2]string]bool // pod and container

	endedAt   time.Time // end of the last pull; zero: none has ended
	succeeded time.Time // end of the last pull that succeeded; zero: none
	err       error     // of the last pull
	failures  int       // in a row
	retryAt   time.Time // earliest next pull; zero: nobody has asked since the failure
}

// Require returns nil if the image was pulled at or after the given time. Otherwise it
// starts a pull, unless one is running or backing off, and returns the problem to report
// meanwhile. It does not wait. A failure from before the pod's last edit does not count.
func (im *Puller) Require(ctx context.Context, pod *plan.Pod, container, image string, since time.Time) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.pulls == nil {
		im.pulls = map[string]*pull{}
	}
	p := im.pulls[image]
	if p == nil {
		maps.DeleteFunc(im.pulls, func(_ string, p *pull) bool { return !p.running && time.Since(p.endedAt) > pullMemory })
		p = &pull{waiting: map[[2]string]bool{}}
		im.pulls[image] = p
	}
	backsOff := p.err != nil && !pod.Since.After(p.endedAt) && (p.retryAt.IsZero() || time.Now().Before(p.retryAt))
	switch {
	case !p.succeeded.Before(since):
		return nil
	case !p.running && backsOff:
		return p.failure()
	case !p.running:
		p.running, p.queued, p.progress = true, true, dockertools.PullProgress{}
		im.wg.Go(func() { im.run(ctx, image, p) })
	}
	p.waiting[[2]string{pod.FullName(), container}] = true
	return plan.Problem{Reason: api.ReasonPulling, Message: fmt.Sprintf("waits for the pull of image %q", image)}
}

// NextPull stands between the error of a pull and the time of the next one.
const NextPull = "; next pull at "

// failure returns the problem of the last pull, which failed. The back-off starts when the
// failure is first reported, so that even a slow sync reports it.
func (p *pull) failure() error {
	if p.retryAt.IsZero() {
		p.retryAt = time.Now().Add(backoff.Wait(p.failures, time.Second, maxPullBackoff))
	}
	reason := api.ReasonPullFailed
	switch {
	case errors.Is(p.err, dockertools.ErrImageNotFound):
		reason = api.ReasonImageNotFound
	case errors.Is(p.err, dockertools.ErrUnauthorised):
		reason = api.ReasonUnauthorised
	}
	return plan.Problem{Reason: reason, Message: fmt.Sprint(p.err, NextPull, p.retryAt.Local().Format(time.TimeOnly)), RetryAt: p.retryAt}
}

// run waits for its turn, pulls an image, and records the result.
func (im *Puller) run(ctx context.Context, image string, p *pull) {
	if im.Limiter.Wait(ctx) != nil { // ctx is done, or would be before its turn
		return
	}
	im.mu.Lock()
	p.queued = false
	im.mu.Unlock()
	began := time.Now()
	err := im.pullImage(ctx, image, p)
	if ctx.Err() != nil {
		return
	}
	im.Done(time.Since(began), err == nil)

	im.mu.Lock()
	defer im.Wake()
	defer im.mu.Unlock()
	p.running, p.err, p.endedAt, p.retryAt = false, err, time.Now(), time.Time{}
	p.failures++
	if err == nil {
		p.failures, p.succeeded = 0, p.endedAt
		glog.Infof("pulled image %q in %v", image, time.Since(began).Round(time.Millisecond))
		for w := range p.waiting {
			im.Note(w[0], w[1], "pulled", fmt.Sprintf("image %q", image))
		}
	}
	clear(p.waiting)
}

// pullImage pulls an image with its credentials.
func (im *Puller) pullImage(ctx context.Context, image string, p *pull) error {
	auth, err := im.Credentials(ctx, image)
	if err != nil {
		glog.Warningf("find credentials for image %q: %v", image, err)
	}
	glog.Infof("pulling image %q", image)
	logged := time.Now()
	return im.Pull(ctx, image, auth, func(progress dockertools.PullProgress) {
		im.mu.Lock()
		defer im.mu.Unlock()
		p.progress = progress
		if time.Since(logged) >= logPullInterval {
			logged = time.Now()
			glog.Infof("pulling image %q: %s", image, p.describe())
		}
	})
}

// EndedAt returns when the last pull of an image ended, or the zero time if none did.
func (im *Puller) EndedAt(image string) time.Time {
	im.mu.Lock()
	defer im.mu.Unlock()
	if p := im.pulls[image]; p != nil {
		return p.endedAt
	}
	return time.Time{}
}

// Progress describes how far the current pull of an image is. It returns "" if there is none.
func (im *Puller) Progress(image string) string {
	im.mu.Lock()
	defer im.mu.Unlock()
	if p := im.pulls[image]; p != nil && p.running {
		return fmt.Sprintf("pulling %s: %s", image, p.describe())
	}
	return ""
}

func (p *pull) describe() string {
	switch {
	case p.queued:
		return "waits for its turn by -registry_qps"
	case p.progress.Layers == 0:
		return "asking the registry"
	}
	return fmt.Sprintf("%d of %d layers, %s of %s", p.progress.LayersDone, p.progress.Layers,
		units.HumanSize(float64(p.progress.Bytes)), units.HumanSize(float64(p.progress.TotalBytes)))
}

// Load returns the number of running pulls, and how many of these are queued.
func (im *Puller) Load() (running, queued int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, p := range im.pulls {
		if p.running {
			running++
			if p.queued {
				queued++
			}
		}
	}
	return running, queued
}
