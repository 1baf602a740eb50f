package kubelet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/panics"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
)

// SyncPods compares every pod with one list of the containers, starts the workers of those that are not as desired, and
// publishes a snapshot. It skips pods whose workers are busy, see doc.go, and waits for none. It returns when to sync again even
// if nothing happens.
func (kl *Kubelet) SyncPods(ctx context.Context) (again time.Time, err error) {
	busy := kl.workers.Busy()
	kl.watcher.Listing()
	list, err := kl.observer.List(ctx)
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	kl.health.locked(func(h *healthState) { h.docker = err })
	if err != nil {
		return time.Time{}, err
	}
	inspected := kl.planPods(ctx, list, busy)
	if ctx.Err() != nil {
		return time.Time{}, ctx.Err()
	}
	kl.watcher.Listed(len(list), inspected, slices.Sorted(maps.Keys(busy)))
	for _, p := range kl.records() {
		if !busy[p.Name] {
			again = plan.Earliest(again, kl.dispatch(ctx, p))
		}
	}
	if kl.removes {
		kl.errors.Log("remove volumes that no pod needs", kl.trashVolumes(list))
		kl.opts.Wishes.Keep(func(pod, source string) bool {
			_, unsynced := kl.desired.unsynced[source]
			p := kl.pods[pod]
			return p == nil && unsynced || p != nil && !p.leaving
		})
	}
	kl.watcher.Synced()
	kl.publish()
	return again, nil
}

// planPods updates the record of each pod: its desired and observed state, its plan, and why it must
// wait. The busy pods are those whose workers were busy before the list.
func (kl *Kubelet) planPods(ctx context.Context, list []dockertools.Listed, busy map[string]bool) (inspected int) {
	if kl.removes { // otherwise only desired pods matter
		for i := range list {
			kl.record(list[i].Of.PodFullName).Origin = list[i].Labels[dockertools.LabelOrigin]
		}
	}
	for name, pod := range kl.desired.pods {
		kl.record(name).Origin = pod.Origin
	}
	observed, inspected, errs := kl.observer.Inspect(ctx, list)
	if ctx.Err() != nil {
		return inspected // an interrupted inspect is no fault of its pod
	}
	var busyPods []*plan.Pod
	for name, p := range kl.pods {
		if !busy[name] {
			p.endWork(kl.opts.SyncFrequency)
		} else if p.work.pod != nil {
			busyPods = append(busyPods, p.work.pod)
		}
		if pod := kl.desired.pods[name]; pod != nil && errs[name] == nil { // otherwise its last restart is not known
			if kl.desired.pods[name] = kl.opts.Wishes.Apply(pod, observed[name]); kl.desired.pods[name] != pod && p.work != nil {
				p.work.supersede()
			}
		}
		p.desire(kl.desired.pods[name])
		p.Observed, p.Err = observed[name], errs[name]
		for i := range p.Observed {
			c := &p.Observed[i]
			c.Unhealthy, _, c.StartupPassed = kl.probes.Result(c, nil)
		}
		panicked := panics.Catch("plan for pod "+name, func() error {
			p.Plan = kl.makePlan(p)
			return nil
		})
		p.Err = cmp.Or(p.Err, panicked)
	}
	finished := func(pod *plan.Pod) bool {
		p := kl.pods[pod.FullName()]
		return p.Err == nil && p.Plan.Finished
	}
	conflicts := plan.Admit(kl.desired.pods, finished, kl.opts.Eviction.WasEvicted, busyPods, list)
	for name, p := range kl.pods {
		p.allowed = kl.opts.Step.Allowed(p.forStep())
		p.Wait = kl.hold(p, conflicts[name], busy[name])
		p.remember()
	}
	return inspected
}

// records returns the records of all pods, ordered by full name.
func (kl *Kubelet) records() []*podRecord {
	return slices.SortedFunc(maps.Values(kl.pods), func(a, b *podRecord) int { return strings.Compare(a.Name, b.Name) })
}

// record returns the record of a pod, a new one if there is none.
func (kl *Kubelet) record(podFullName string) *podRecord {
	p := kl.pods[podFullName]
	if p == nil {
		p = &podRecord{Pod: status.Pod{Name: podFullName}}
		kl.pods[podFullName] = p
	}
	return p
}

// dispatch carries out the decision about an idle pod, and returns when to look at it again.
func (kl *Kubelet) dispatch(ctx context.Context, p *podRecord) (again time.Time) {
	kl.news.Problems(p.Pod)
	d, again := kl.next(p)
	if !p.held() {
		kl.syncProbes(ctx, p)
	}
	kl.watcher.Decided(&p.Pod, d, len(p.allowed), func() api.PodPhase { return kl.status(&p.Pod).Phase })
	switch d {
	case watch.Asks:
		kl.opts.Step.Ask(p.forStep())
	case watch.Rests:
		kl.opts.Step.Forget(&p.Pod)
		p.WorkProblems, p.Failures, p.tried = nil, 0, ""
		if p.Desired == nil && len(p.Observed) == 0 {
			kl.news.Gone(p.Name)
			delete(kl.pods, p.Name)
		}
	case watch.Works:
		kl.opts.Step.Take(p.Name, p.allowed)
		kl.startWork(ctx, p)
	}
	return again
}

// startWork lets the pod's worker carry out the allowed steps.
func (kl *Kubelet) startWork(ctx context.Context, p *podRecord) {
	w := &work{podFullName: p.Name, pod: p.Desired, todo: p.Plan}
	w.todo.Steps = p.allowed
	w.changed, w.supersede = context.WithCancel(context.Background())
	p.tried, p.work = kl.tryID(p), w
	kl.news.Works(p.Name)
	kl.workers.Run(p.Name, func() {
		defer w.supersede()
		kl.syncPod(ctx, w)
	})
}

// syncPod carries out the plan of one pod.
func (kl *Kubelet) syncPod(ctx context.Context, w *work) {
	began := time.Now()
	w.problems = kl.executor.Run(ctx, w.changed, w.pod, w.todo)
	kl.watcher.Worked(w.podFullName)
	if ctx.Err() == nil {
		kl.opts.SyncDone(time.Since(began), !slices.ContainsFunc(slices.Collect(maps.Values(w.problems)), plan.Problem.IsFailure))
	}
}
