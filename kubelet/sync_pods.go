package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// SyncPods compares every pod with one list of the containers, starts the workers of those
// that are not as desired, and publishes a snapshot. It does not wait for the workers. It
// returns when to sync again even if nothing happens.
//
// A list that is begun while a worker is busy may not show what that worker does. So its pod
// is skipped, and the end of the work wakes the sync loop.
func (kl *Kubelet) SyncPods(ctx context.Context) (next time.Time, err error) {
	busy := kl.workers.Busy()
	kl.opts.Trace.Add(trace.Event{Kind: "list"})
	list, err := kl.observer.List(ctx)
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	kl.health.set(func(h *healthState) { h.docker = err })
	if err != nil {
		return time.Time{}, err
	}
	kl.planPods(ctx, list, busy)
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	kl.opts.Trace.Add(trace.Event{Kind: "listed", N: len(list), Pods: slices.Sorted(maps.Keys(busy))})
	kl.logHeld()
	for _, name := range slices.Sorted(maps.Keys(kl.pods)) {
		if !busy[name] {
			next = earliest(next, kl.dispatch(ctx, kl.pods[name]))
		}
	}
	if kl.removes {
		kl.logOnce("remove volumes that no pod needs", kl.trashVolumes(list))
	}
	kl.opts.Trace.Add(trace.Event{Kind: "synced"})
	kl.publish()
	return next, nil
}

// planPods updates the record of each pod: what is desired, what is observed, and the plan.
// The busy pods are those whose workers were busy before the list.
func (kl *Kubelet) planPods(ctx context.Context, list []dockertools.Listed, busy map[string]bool) {
	if kl.removes { // else no pod is looked at that is not desired
		for i := range list {
			kl.record(list[i].Of.PodFullName).origin = list[i].Labels[dockertools.LabelOrigin]
		}
	}
	for name, pod := range kl.desired.pods {
		kl.record(name).origin = pod.Origin
	}
	observed, errs := kl.observer.Inspect(ctx, list)
	if ctx.Err() != nil {
		return // an interrupted inspect is no problem of its pod
	}
	for name, p := range kl.pods {
		p.desire(kl.desired.pods[name])
		p.containers, p.err = observed[name], errs[name]
		for i := range p.containers {
			c := &p.containers[i]
			c.Unhealthy, _ = kl.probes.Result(c, nil)
		}
		panicked := panics.Catch("plan for pod "+name, func() error {
			p.plan = kl.makePlan(p)
			return nil
		})
		p.err = cmp.Or(p.err, panicked)
	}
	finished := func(pod *plan.Pod) bool {
		p := kl.pods[pod.FullName()]
		return p.err == nil && p.plan.Finished
	}
	var making []*plan.Pod
	for name := range busy {
		if w := kl.pods[name].work; w.pod != nil {
			making = append(making, w.pod)
		}
	}
	conflicts := plan.Admit(kl.desired.pods, finished, kl.pressure().WasEvicted, making, list)
	for name, p := range kl.pods {
		p.wait = cmp.Or(kl.hold(p), conflicts[name])
	}
}

// record returns the record of a pod, a new one if there is none.
func (kl *Kubelet) record(podFullName string) *podRecord {
	p := kl.pods[podFullName]
	if p == nil {
		p = &podRecord{podSnapshot: podSnapshot{name: podFullName}}
		kl.pods[podFullName] = p
	}
	return p
}

// dispatch starts the worker of an idle pod if there is something to do, and returns when to look at it again.
func (kl *Kubelet) dispatch(ctx context.Context, p *podRecord) (again time.Time) {
	p.endWork(kl.opts.SyncFrequency)
	kl.logProblems(p)
	if p.err != nil || p.waits() {
		return p.wait.RetryAt // its containers stay as they are
	}
	kl.syncProbes(ctx, p)
	if len(p.plan.Steps) == 0 {
		kl.tracePod("idle", p)
		kl.permitted(p, "")
		p.workProblems, p.failures, p.tried = nil, 0, ""
		if p.pod == nil && len(p.containers) == 0 {
			glog.Infof("pod %s is gone", p.name)
			delete(kl.pods, p.name)
		}
		return p.plan.Next
	}
	if kl.decided(p) {
		return time.Time{}
	}
	id := p.planID()
	steps := id + kl.pullsEnded(p)
	if steps == p.tried && time.Now().Before(p.retryAt) {
		return earliest(p.retryAt, p.plan.Next)
	}
	permitted := kl.permitted(p, id)
	if len(permitted) == 0 {
		kl.tracePod("wait", p)
		p.wait = step.Wait
		return p.plan.Next
	}
	kl.tracePod("plan", p)
	p.tried = steps
	kl.startWork(ctx, p, permitted)
	return p.plan.Next
}

// permitted returns the steps of a pod's plan that may be carried out now: all, unless a person decides.
func (kl *Kubelet) permitted(p *podRecord, id string) [][]plan.Action {
	return kl.opts.Step.Take(step.Pod{Name: p.name, Origin: p.origin, Plan: p.plan, ID: id, Pulls: p.pulls(),
		Compare: func() ([]trace.Row, []string) { return p.compare(kl) }})
}

// pullsEnded tells when the last pulls of images ended that the plan needs. After that it is tried again at once.
func (kl *Kubelet) pullsEnded(p *podRecord) (text string) {
	for _, a := range slices.Concat(p.plan.Steps...) {
		if a.Kind == plan.Create {
			text += fmt.Sprintf(" %v", kl.images.EndedAt(kl.imageOf(a.Container)))
		}
	}
	return text
}
