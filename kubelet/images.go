package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docker/go-units"
	"github.com/golang/glog"
	"golang.org/x/time/rate"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

const (
	maxPullBackoff  = 5 * time.Minute // after failed pulls of an image: 1 s, 2 s, 4 s, …
	logPullInterval = 5 * time.Second
)

// images pulls images in the background: one pull of an image at a time, however many pods
// need it. In 2014 each pod pulled for itself.
type images struct {
	opts    *Options
	limiter *rate.Limiter
	events  *events
	wake    func()

	wg    sync.WaitGroup
	mu    sync.Mutex
	pulls map[string]*pull // by image; an entry of about 200 bytes stays for each image ever pulled
}

// pull is the current pull of one image, or else the last one. Its fields are guarded by
// images.mu.
type pull struct {
	running  bool
	queued   bool // it waits for -registry_qps
	progress dockertools.PullProgress
	waiting  map[[2]string]bool // pods and their containers

	endedAt   time.Time // of the last pull; zero: none has ended
	succeeded time.Time // end of the last pull that succeeded; zero: none
	err       error     // of the last pull
	failures  int       // in a row
	retryAt   time.Time // no pull before; zero: nobody has asked since the failure
}

// require returns nil if an image was pulled at the given time or later. Otherwise it starts
// a pull, unless one is running or the back-off of a failed one is not over, and the error
// is the problem to report meanwhile. It does not wait. A failure from before the pod was
// edited does not count.
func (im *images) require(ctx context.Context, pod *plan.Pod, container, image string, since time.Time) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	p := im.pulls[image]
	if p == nil {
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

// failure returns the problem of the last pull, which failed. The back-off begins when the
// failure is first reported, so that a slow sync does not miss it.
func (p *pull) failure() error {
	if p.retryAt.IsZero() {
		p.retryAt = time.Now().Add(min(time.Second<<min(p.failures-1, 20), maxPullBackoff))
	}
	reason := api.ReasonPullFailed
	switch {
	case errors.Is(p.err, dockertools.ErrImageNotFound):
		reason = api.ReasonImageNotFound
	case errors.Is(p.err, dockertools.ErrUnauthorised):
		reason = api.ReasonUnauthorised
	}
	return plan.Problem{Reason: reason, Message: fmt.Sprintf("%v; no pull before %s", p.err, p.retryAt.Local().Format(time.TimeOnly)), RetryAt: p.retryAt}
}

// run pulls an image when its turn has come, and records how that ended.
func (im *images) run(ctx context.Context, image string, p *pull) {
	if im.limiter.Wait(ctx) != nil { // ctx is done, or will be before its turn
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
	im.opts.PullDone(time.Since(began), err == nil)

	im.mu.Lock()
	defer im.wake()
	defer im.mu.Unlock()
	p.running, p.err, p.endedAt, p.retryAt = false, err, time.Now(), time.Time{}
	p.failures++
	if err == nil {
		p.failures, p.succeeded = 0, p.endedAt
		glog.Infof("pulled image %q in %v", image, time.Since(began).Round(time.Millisecond))
		for w := range p.waiting {
			im.events.add(w[0], w[1], "pulled", "image %q", image)
		}
	}
	clear(p.waiting)
}

// pullImage pulls an image with the credentials for it.
func (im *images) pullImage(ctx context.Context, image string, p *pull) error {
	auth, err := im.opts.Credentials(ctx, image)
	if err != nil {
		glog.Warningf("find credentials for image %q: %v", image, err)
	}
	glog.Infof("pulling image %q", image)
	logged := time.Now()
	return im.opts.Docker.PullImage(ctx, image, auth, func(progress dockertools.PullProgress) {
		im.mu.Lock()
		defer im.mu.Unlock()
		p.progress = progress
		if time.Since(logged) >= logPullInterval {
			logged = time.Now()
			glog.Infof("pulling image %q: %s", image, p.describe())
		}
	})
}

// get returns what is known of the pulls of an image.
func (im *images) get(image string) pull {
	im.mu.Lock()
	defer im.mu.Unlock()
	if p := im.pulls[image]; p != nil {
		return *p
	}
	return pull{}
}

// progress returns how far the current pull of an image is, or "".
func (im *images) progress(image string) string {
	if p := im.get(image); p.running {
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

// load returns the number of pulls that are running, and how many of them are queued.
func (im *images) load() (running, queued int) {
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
