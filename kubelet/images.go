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

// After a pull that failed, the next one of that image waits 1 s, 2 s, 4 s, … up to
// this long. It is a count of its own: a registry that is down says nothing about
// a container that crashes.
const maxPullBackoff = 5 * time.Minute

// logPullEvery is how often a long pull says in the log how far it has come.
const logPullEvery = 5 * time.Second

// images pulls images for all pods: in the background, so that no worker waits for
// a registry, and one pull of an image at a time, however many pods ask for it. In
// 2014 each pod pulled for itself, and its worker with it.
type images struct {
	opts    *Options
	limiter *rate.Limiter
	events  *events
	hint    func(podFullName string) // a pull that the pod waits for is over

	wg sync.WaitGroup // of the pulls that are on their way

	mu    sync.Mutex
	pulls map[string]*pull   // by reference, as Docker keeps it
	asked map[asker]*request // of each container the newest
}

// pull is what is known of the pulls of one image.
type pull struct {
	running  bool // one is on its way
	queued   bool // it waits for its turn by -registry_qps
	progress dockertools.PullProgress
	askers   map[asker]bool // of the one that is on its way; some may not wait for it any more
	failures int            // in a row
	err      error          // of the last one
	next     time.Time
}

type asker struct{ pod, container string }

type request struct {
	ref, creation string // the name of the container that is to be created
	served        bool   // a pull that was on its way then, or came later, has succeeded
	failed        bool   // the pull has failed, and the asker has not been told of it yet
}

// fetch returns nil once a pull has succeeded that was on its way when this
// creation first asked, or began later. Until then it is an error that says how
// far the pull is, or why it failed and when it is tried again; the pod is looked at
// again then. It does not wait. The pull goes on until ctx is done.
func (im *images) fetch(ctx context.Context, creation dockertools.NameParts, image string) error {
	im.mu.Lock()
	defer im.mu.Unlock()
	ref := imageReference(image)
	p := im.pulls[ref]
	if p == nil {
		p = &pull{}
		im.pulls[ref] = p
	}
	who := asker{creation.PodFullName, creation.Name}
	r := im.asked[who]
	if r == nil || r.ref != ref || r.creation != creation.String() {
		r = &request{ref: ref, creation: creation.String()}
		im.asked[who] = r
	}
	switch {
	case r.served:
		return nil
	case !p.running && (r.failed || time.Now().Before(p.next)):
		r.failed = false
		return p.failed()
	case !p.running:
		turn := im.limiter.Reserve().Delay()
		p.running, p.progress, p.queued, p.askers = true, dockertools.PullProgress{}, turn > 0, map[asker]bool{}
		im.wg.Go(func() { im.pull(ctx, ref, p, turn) })
	}
	p.askers[who] = true
	return trouble{reason: api.ReasonPulling, message: fmt.Sprintf("waits for the pull of image %q", familiar(ref))}
}

// failed says why the last pull failed. The caller holds the lock.
func (p *pull) failed() error {
	reason := api.ReasonPullFailed
	switch {
	case errors.Is(p.err, dockertools.ErrImageNotFound):
		reason = api.ReasonImageNotFound
	case errors.Is(p.err, dockertools.ErrUnauthorised):
		reason = api.ReasonUnauthorised
	}
	return trouble{reason: reason, message: fmt.Sprintf("%v; the next pull is at %s", p.err, p.next.Local().Format(time.TimeOnly)), next: p.next}
}

// pull makes one pull, when its turn has come, and tells those who have asked for it.
func (im *images) pull(ctx context.Context, ref string, p *pull, turn time.Duration) {
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(turn):
		im.mu.Lock()
		p.queued = false
		im.mu.Unlock()
		err = im.pullNow(ctx, ref, p)
	}
	im.mu.Lock()
	p.running, p.err = false, err
	if err == nil {
		p.failures, p.next = 0, time.Time{}
	} else {
		p.next = time.Now().Add(pullDelay(p.failures))
		p.failures++
	}
	var waiting []asker
	for who, r := range im.asked {
		if r.ref == ref && !r.served {
			waiting = append(waiting, who)
			r.served, r.failed = err == nil, err != nil
		}
	}
	askers := p.askers
	im.tidy()
	im.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		for who := range askers {
			im.events.add(who.pod, who.container, "pulled", "image %q", familiar(ref))
		}
	}
	for _, who := range waiting {
		im.hint(who.pod)
	}
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

// forget gives up what a container has asked for, since it is created or not wanted. An
// empty container stands for all of the pod.
func (im *images) forget(podFullName, container string) {
	im.mu.Lock()
	defer im.mu.Unlock()
	maps.DeleteFunc(im.asked, func(who asker, _ *request) bool {
		return who.pod == podFullName && (container == "" || who.container == container)
	})
	im.tidy()
}

// tidy forgets the pulls that nobody asks for. The caller holds the lock.
func (im *images) tidy() {
	wanted := map[string]bool{}
	for _, r := range im.asked {
		wanted[r.ref] = true
	}
	maps.DeleteFunc(im.pulls, func(ref string, p *pull) bool { return !wanted[ref] && !p.running })
}

// progress says how far the pull of an image is that is on its way, or "".
func (im *images) progress(image string) string {
	im.mu.Lock()
	defer im.mu.Unlock()
	ref := imageReference(image)
	if p := im.pulls[ref]; p != nil && p.running {
		return p.describe(ref)
	}
	return ""
}

// describe says how far a pull is. The caller holds the lock.
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

func progressText(p dockertools.PullProgress) string {
	if p.Layers == 0 {
		return "asking the registry"
	}
	return fmt.Sprintf("%d of %d layers, %s of %s", p.LayersDone, p.Layers, units.HumanSize(float64(p.Bytes)), units.HumanSize(float64(p.TotalBytes)))
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
