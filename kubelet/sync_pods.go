package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// SyncPods compares what is wanted with one list of what is there, for every pod, and
// has the workers do what their pods need. It does not wait for them. It returns when
// to look again although nothing happens.
//
// A list that was begun while a worker was at work may not show what that worker has
// done, so nothing is decided on it for that pod: the end of the work wakes the loop.
func (kl *Kubelet) SyncPods(ctx context.Context) (next time.Time, err error) {
	kl.interruptOvertaken()
	busy := kl.podWorkers.Busy()

	list, err := kl.observer.list(ctx)
	if err != nil {
		return time.Time{}, err
	}
	kl.look(list, kl.observer.inspect(ctx, list))
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	blocked := kl.blocked(list)
	for _, name := range slices.Sorted(maps.Keys(kl.pods)) {
		p := kl.pods[name]
		p.blocked = blocked[name]
		if !busy[name] {
			next = earliest(next, kl.syncPod(ctx, p))
		}
	}
	if kl.removes {
		kl.setAsideOrphans(list, busy)
	}
	kl.publish()
	return next, nil
}

// interruptOvertaken makes workers stop, between two steps, that do what is no longer
// wanted.
func (kl *Kubelet) interruptOvertaken() {
	for name, p := range kl.pods {
		if p.work != nil && p.work.want != kl.desired.pods[name] {
			p.work.overtake()
		}
	}
}

// look brings up to date what is known of each pod: what is wanted, what is there and
// what is to be done.
func (kl *Kubelet) look(list []dockertools.Owned, seen map[string]*observation) {
	for i := range list {
		if name := list[i].Of.PodFullName; kl.desired.pods[name] == nil && kl.removes && !kl.desired.isSilent(name) {
			kl.podState(name).origin = list[i].Labels[dockertools.LabelOrigin]
		}
	}
	for name, want := range kl.desired.pods {
		kl.podState(name).origin = want.Origin
	}
	for name, p := range kl.pods {
		p.want, p.containers, p.lookErr = kl.desired.pods[name], nil, nil
		if o := seen[name]; o != nil {
			p.containers, p.lookErr = o.containers, o.err
		}
		for i := range p.containers {
			p.containers[i].Unhealthy = kl.probes.verdict(&p.containers[i])
		}
		err := recovered(func() error {
			p.plan = plan(p.want, p.containers, kl.limits, time.Now())
			return nil
		})
		p.lookErr = cmp.Or(p.lookErr, err)
	}
}

// recovered turns a panic into an error: what is wrong with one pod must not end the
// others.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

func (kl *Kubelet) podState(name string) *podState {
	p := kl.pods[name]
	if p == nil {
		p = &podState{name: name, events: kl.events}
		kl.pods[name] = p
	}
	return p
}

// blocked says which pods must wait for a UID or for a port of the host, and why. A pod
// that has done its work wants no ports.
func (kl *Kubelet) blocked(list []dockertools.Owned) map[string]trouble {
	pods := slices.SortedFunc(maps.Values(kl.desired.pods), func(a, b *wantedPod) int { return strings.Compare(a.fullName, b.fullName) })
	blocked := sharedUIDs(pods, list)
	published := slices.DeleteFunc(pods, func(pod *wantedPod) bool {
		p := kl.pods[pod.fullName]
		return len(pod.ports) == 0 || blocked[pod.fullName].message != "" || p.lookErr == nil && p.plan.finished
	})
	maps.Copy(blocked, admit(published, list))
	return blocked
}

// syncPod does what an idle pod needs, and returns when to look at it again.
func (kl *Kubelet) syncPod(ctx context.Context, p *podState) (next time.Time) {
	p.endWork(kl.opts.SyncFrequency)
	switch {
	case p.parked:
		return time.Time{}
	case p.lookErr != nil:
		p.report([]trouble{{reason: api.ReasonDocker, message: p.lookErr.Error()}})
		return time.Time{}
	case p.blocked.message != "":
		p.say(glog.Warningf, "waits, as it is: "+p.blocked.message)
		return time.Time{}
	}
	kl.syncProbes(ctx, p.name, p.want, p.containers)
	steps := describeSteps(p.want, p.plan.steps, kl.wake.generation.Load())
	switch {
	case len(p.plan.steps) == 0 && p.want == nil && len(p.containers) == 0:
		p.settled()
		delete(kl.pods, p.name)
		return time.Time{}
	case len(p.plan.steps) == 0:
		p.settled()
		return p.plan.next
	case steps == p.tried && time.Now().Before(p.retryAt):
		return earliest(p.retryAt, p.plan.next)
	}
	p.tried = steps
	kl.startWork(ctx, p)
	return p.plan.next
}

// describeSteps differs whenever there is something else to do.
func describeSteps(want *wantedPod, steps [][]action, generation uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p %d", want, generation)
	for _, a := range slices.Concat(steps...) {
		fmt.Fprintf(&b, " %s %s %s", a.kind, a.name, a.id)
	}
	return b.String()
}

// earliest is the sooner of two times; the zero time is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
