package kubelet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/go-units"
	"github.com/golang/glog"
	"golang.org/x/time/rate"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// After a pull that failed, the next one of that image waits 1 s, 2 s, 4 s, … up to this.
const maxPullBackoff = 5 * time.Minute

const logPullEvery = 5 * time.Second

// images pulls images for all pods, in the background, and one pull of an image at a
// time, however many pods ask for it. In 2014 each pod pulled for itself.
type images struct {
	opts    *Options
	limiter *rate.Limiter
	events  *events
	wake    func() // a pull is over

	wg    sync.WaitGroup
	mu    sync.Mutex
	pulls map[string]*pull // by reference
}

// pull is the pull of one image that is going on, or the last one.
type pull struct {
	running   bool
	queued    bool // it waits for its turn by -registry_qps
	progress  dockertools.PullProgress
	waiting   map[string]bool // full names of pods
	succeeded time.Time       // the last time; zero: never
	failures  int             // in a row
	err       error
	failed    time.Time // when that was
	next      time.Time // not before this
}

// request returns nil when a pull has succeeded since the given time. Otherwise it
// begins one, if none is running and none has just failed, and the error says how that
// goes on. It does not wait: the pod is woken. What failed before the pod was edited
// counts for nothing.
func (im *images) request(ctx context.Context, pod *wantedPod, image string, since time.Time) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	ref := imageReference(image)
	p := im.pulls[ref]
	if p == nil {
		p = &pull{waiting: map[string]bool{}}
		im.pulls[ref] = p
	}
	switch {
	case !p.succeeded.IsZero() && !p.succeeded.Before(since):
		return nil
	case !p.running && p.err != nil && !pod.since.After(p.failed) && (p.next.IsZero() || time.Now().Before(p.next)):
		if p.next.IsZero() { // the wait begins when somebody is told
			p.next = time.Now().Add(pullDelay(p.failures - 1))
		}
		return p.failure()
	case !p.running:
		turn := im.limiter.Reserve().Delay()
		p.running, p.queued, p.progress = true, turn > 0, dockertools.PullProgress{}
		im.wg.Go(func() { im.pull(ctx, ref, p, turn) })
	}
	p.waiting[pod.fullName] = true
	return trouble{reason: api.ReasonPulling, message: fmt.Sprintf("waits for the pull of image %q", familiar(ref))}
}

// failure says why the last pull failed. The caller holds the lock.
func (p *pull) failure() error {
	reason := api.ReasonPullFailed
	switch {
	case errors.Is(p.err, dockertools.ErrImageNotFound):
		reason = api.ReasonImageNotFound
	case errors.Is(p.err, dockertools.ErrUnauthorised):
		reason = api.ReasonUnauthorised
	}
	return trouble{reason: reason, message: fmt.Sprintf("%v; the next pull is at %s", p.err, p.next.Local().Format(time.TimeOnly)), next: p.next}
}

// pull makes one pull, when its turn has come, and wakes those who wait for it.
func (im *images) pull(ctx context.Context, ref string, p *pull, turn time.Duration) {
	err := context.Canceled
	if sleep(ctx, turn) {
		im.mu.Lock()
		p.queued = false
		im.mu.Unlock()
		err = im.pullNow(ctx, ref, p)
	}
	if ctx.Err() != nil {
		return
	}
	im.mu.Lock()
	waiting := p.waiting
	p.running, p.err, p.waiting = false, err, map[string]bool{}
	if err == nil {
		p.succeeded, p.failures, p.next = time.Now(), 0, time.Time{}
	} else {
		p.failed, p.next = time.Now(), time.Time{}
		p.failures++
	}
	im.mu.Unlock()
	for pod := range waiting {
		if err == nil {
			im.events.add(pod, "", "pulled", "image %q", familiar(ref))
		}
	}
	im.wake()
}

// pullNow asks the registry, as whoever Docker's configuration says.
func (im *images) pullNow(ctx context.Context, ref string, p *pull) error {
	auth, err := im.opts.Credentials(ctx, ref)
	if err != nil {
		glog.Warningf("find credentials for image %q: %v", familiar(ref), err)
	}
	began := time.Now()
	glog.Infof("pulling image %q", familiar(ref))
	said := began
	err = im.opts.Docker.PullImage(ctx, ref, auth, func(progress dockertools.PullProgress) {
		im.mu.Lock()
		p.progress = progress
		im.mu.Unlock()
		if now := time.Now(); now.Sub(said) >= logPullEvery {
			said = now
			glog.Infof("pulling image %q: %s", familiar(ref), progressText(progress))
		}
	})
	took := time.Since(began)
	if ctx.Err() == nil {
		im.opts.PullDone(took, err == nil)
	}
	if err == nil {
		glog.Infof("image %q is pulled, in %v", familiar(ref), took.Round(time.Millisecond))
	}
	return err
}

// pullDelay is how long to wait after a failed pull, when so many failed before it.
func pullDelay(failures int) time.Duration {
	return min(time.Second<<min(failures, 20), maxPullBackoff)
}

// progress says how far the pull of an image is that is going on, or "".
func (im *images) progress(image string) string {
	im.mu.Lock()
	defer im.mu.Unlock()
	ref := imageReference(image)
	if p := im.pulls[ref]; p != nil && p.running {
		return p.describe(ref)
	}
	return ""
}

func (p *pull) describe(ref string) string {
	if p.queued {
		return fmt.Sprintf("pulling %s: waits for its turn by -registry_qps", familiar(ref))
	}
	return fmt.Sprintf("pulling %s: %s", familiar(ref), progressText(p.progress))
}

// Pulling says in one line which images are being pulled and how far, or "".
func (kl *Kubelet) Pulling() string {
	im := kl.images
	im.mu.Lock()
	defer im.mu.Unlock()
	var texts []string
	for _, ref := range slices.Sorted(maps.Keys(im.pulls)) {
		if p := im.pulls[ref]; p.running {
			texts = append(texts, p.describe(ref))
		}
	}
	return strings.Join(texts, ", ")
}

// load counts the pulls that are going on, and those of them that wait for their turn.
func (im *images) load() (pulls, queued int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, p := range im.pulls {
		if p.running {
			pulls++
		}
		if p.running && p.queued {
			queued++
		}
	}
	return pulls, queued
}

func progressText(p dockertools.PullProgress) string {
	if p.Layers == 0 {
		return "asking the registry"
	}
	return fmt.Sprintf("%d of %d layers, %s of %s", p.LayersDone, p.Layers, units.HumanSize(float64(p.Bytes)), units.HumanSize(float64(p.TotalBytes)))
}

// freshImage pulls the image of a creation although it may be present. When that
// fails, a present image is good enough, unless PullAlways says otherwise: a
// registry that is down stops no pod.
func (kl *Kubelet) freshImage(ctx context.Context, want *wantedPod, a *action) error {
	image := a.want.spec.Image
	err := kl.images.request(ctx, want, image, a.due)
	if t := (trouble{}); err == nil || errors.As(err, &t) && t.reason == api.ReasonPulling || a.want.spec.ImagePullPolicy == api.PullAlways {
		return err
	}
	if _, missing := kl.docker.InspectImage(ctx, image); missing != nil {
		return err
	}
	glog.Warningf("pod %s: container %q: the present image %q is used, since its pull failed: %v", a.name.PodFullName, a.name.Name, image, err)
	kl.events.add(a.name.PodFullName, a.name.Name, "used present image", "%q: %v", image, err)
	return nil
}

// missingImage gets an image that a creation has found missing: nil once it is there.
func (kl *Kubelet) missingImage(ctx context.Context, want *wantedPod, a *action, image string, missing error) error {
	switch {
	case image == dockertools.PauseImage:
		// Workers of many pods may find that out at once; one of them imports it.
		kl.pauseImage.Lock()
		defer kl.pauseImage.Unlock()
		return dockertools.EnsurePauseImage(ctx, kl.docker)
	case a.want.spec != nil && a.want.spec.ImagePullPolicy == api.PullNever:
		return trouble{reason: api.ReasonImageNeverPulled, message: fmt.Sprintf("%s, and its imagePullPolicy is PullNever; `docker pull %s` gets it", a.wordsOf(missing), image)}
	}
	return kl.images.request(ctx, want, image, time.Now())
}

// imageReference is the full name under which Docker keeps an image, with
// registry and tag or digest. One that is not a name, such as an id, stays.
func imageReference(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return image
	}
	return reference.TagNameOnly(named).String()
}

// familiar is the short form of a reference, as people write it.
func familiar(ref string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ref
	}
	return reference.FamiliarString(named)
}

// isLatest says that an image is named by the tag "latest", or by none.
func isLatest(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	tagged, ok := reference.TagNameOnly(named).(reference.Tagged)
	_, pinned := named.(reference.Digested)
	return ok && !pinned && tagged.Tag() == "latest"
}
