package kubelet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// podState is what the sync loop knows of a pod. All of it may be lost: Docker is the
// memory. It belongs to the goroutine of the sync loop.
type podState struct {
	name   string
	origin string // where its manifest was read, the last time there was one
	events *events

	// Of the last look.
	want       *wantedPod // nil: remove all there is of it
	containers []seenContainer
	lookErr    error
	plan       podPlan
	blocked    trouble // why the pod must wait as it is; its message is empty when it need not

	troubles troubles // of the last work, and of the one that is going on
	work     *work    // nil when there is none whose end is still to be dealt with
	tried    string   // what the last work was to do
	retryAt  time.Time
	failures int  // pieces of work that failed, in a row
	parked   bool // RunOnce has seen enough of it

	said       string            // what was logged of the pod last
	complaints map[string]string // the same for each container
}

// work is one plan being carried out by the pod's worker.
type work struct {
	want      *wantedPod
	overtaken context.Context // done when something else is wanted
	overtake  func()
	acted     bool // something was done
}

// troubles is why containers do not run, or not as they should, by container name. The
// pod's worker writes it while statuses read it.
type troubles struct {
	mu sync.Mutex
	of map[string]trouble
}

func (t *troubles) set(container string, why trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]trouble{}
	}
	t.of[container] = why
}

func (t *troubles) clear(container string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, container)
}

func (t *troubles) list() []trouble {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []trouble
	for _, why := range t.of {
		all = append(all, why)
	}
	slices.SortFunc(all, func(a, b trouble) int { return strings.Compare(a.container, b.container) })
	return all
}

// label names the pod for people.
func (p *podState) label() string { return fmt.Sprintf("%s (%s)", p.name, p.origin) }

// endWork draws the conclusions from work that has ended: what has failed is tried
// again after a quarter of a second, then twice that, up to most; what only has to wait,
// at its time.
func (p *podState) endWork(most time.Duration) {
	if p.work == nil {
		return
	}
	if p.work.acted {
		p.said = ""
	}
	p.work.overtake()
	p.work = nil
	left := p.troubles.list()
	p.retryAt = time.Time{}
	for _, t := range left {
		p.retryAt = earliest(p.retryAt, t.next)
	}
	switch {
	case len(left) == 0:
		p.failures, p.tried = 0, ""
	case anyFailed(left):
		p.retryAt = earliest(p.retryAt, time.Now().Add(min(250*time.Millisecond<<min(p.failures, 10), most)))
		p.failures++
	default:
		p.retryAt = earliest(p.retryAt, time.Now().Add(most))
	}
	p.report(slices.Concat(left, p.plan.notRunning))
}

// settled says once what has become of a pod for which nothing is left to do.
func (p *podState) settled() {
	p.failures, p.tried = 0, ""
	for _, t := range p.troubles.list() {
		p.troubles.clear(t.container)
	}
	p.report(p.plan.notRunning)
	switch {
	case len(p.plan.notRunning) > 0:
	case p.want == nil:
		p.say(glog.Infof, "is gone")
	case p.plan.finished:
		p.say(glog.Infof, "has done its work")
	default:
		p.say(glog.Infof, "is up")
	}
}

// say logs what has become of the pod, unless it was the last thing said of it.
func (p *podState) say(log func(format string, args ...any), text string) {
	if p.said != text {
		p.said = text
		log("pod %s %s", p.label(), text)
	}
}

// report logs each trouble that is new or has changed, and makes it an event.
func (p *podState) report(troubles []trouble) {
	complaints := map[string]string{}
	for _, t := range troubles {
		complaints[t.container] = t.message
		if p.complaints[t.container] == t.message {
			continue
		}
		log := glog.Errorf
		if t.waits() {
			log = glog.Warningf
		}
		if t.reason == api.ReasonPulling {
			log = glog.V(2).Infof // the pull says so itself
		}
		log("pod %s: %s", p.label(), t)
		p.events.remember(p.name, t.container, t.reason, t.message)
	}
	p.complaints = complaints
	if len(troubles) > 0 {
		p.said = ""
	}
}
