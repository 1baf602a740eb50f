package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// upTime is how long every container must run before RunOnce calls a pod up. One that
// crashes mostly does so at once, and one that has crashed before must run ten times as long.
const upTime = 300 * time.Millisecond

// RunOnce starts the pods of every source. It returns their statuses when each pod is up, has
// finished or has failed; one with a restart policy that lets it finish must finish. A pod
// that failed has the phase api.PodFailed, and its message says why; so has one that is not
// up when ctx is done. RunOnce removes nothing that it was not given. The error is about
// sources that could not be read; the pods that could be read are started.
//
// It is the sync loop without removals and with an end.
func (kl *Kubelet) RunOnce(ctx context.Context, updates <-chan api.PodUpdate) ([]api.PodStatus, error) {
	began := time.Now()
	if err := kl.connect(ctx); err != nil {
		return nil, err
	}
	sourcesErr, err := kl.waitForSources(ctx, updates, kl.applyUpdate)
	if err != nil {
		return nil, err
	}
	outcomes := runOnce{}
	kl.removes, kl.decided = false, outcomes.decided
	err = kl.run(ctx, nil, func() (done bool, again time.Time) {
		done = true
		for name := range kl.desired.pods {
			p := kl.pods[name]
			if outcomes.decided(p) {
				continue
			}
			done = false
			if at := p.upAt(); at.After(time.Now()) {
				again = earliest(again, at)
			}
		}
		return done, again
	})
	return kl.outcomes(ctx, outcomes, began), errors.Join(sourcesErr, err)
}

// waitForSources applies updates until every source is ready or has said why it is not.
func (kl *Kubelet) waitForSources(ctx context.Context, updates <-chan api.PodUpdate, apply func(api.PodUpdate)) (sourcesErr, err error) {
	for {
		select {
		case update := <-updates:
			apply(update)
		case <-ctx.Done():
			return nil, fmt.Errorf("not every source of pods is ready (%s): %w",
				strings.Join(slices.Sorted(maps.Keys(kl.desired.unsynced)), ", "), context.Cause(ctx))
		}
		var errs []error
		ready := !kl.desired.since.IsZero()
		for _, source := range slices.Sorted(maps.Keys(kl.desired.unsynced)) {
			err := kl.desired.unsynced[source]
			ready = ready && err != nil
			if _, noPods := errors.AsType[*api.NoPodsError](err); err != nil && !noPods { // it is in the log
				errs = append(errs, fmt.Errorf("source %q has errors, see above", source))
			}
		}
		if ready {
			return errors.Join(errs...), nil
		}
	}
}

// runOnce holds the outcomes of the pods that are decided, by full name. A success has no
// message.
type runOnce map[string]plan.Problem

// decided reports whether the outcome of a pod is known.
func (r runOnce) decided(p *podRecord) bool {
	_, decided := r[p.name]
	if decided || p.work != nil || p.err != nil {
		return decided
	}
	problems := p.faults()
	for _, problem := range problems {
		if problem.Reason != api.ReasonPulling && problem.Reason != api.ReasonBackOff {
			r[p.name] = plan.Problem{Reason: problem.Reason, Message: joinProblems(problems)}
			return true
		}
	}
	isUp := !hasEnd(p.pod) && p.plan.Init == "" && !p.upAt().After(time.Now())
	if len(problems) == 0 && len(p.plan.Steps) == 0 && (p.plan.Finished || isUp) {
		r[p.name] = plan.Problem{}
		return true
	}
	return false
}

// hasEnd reports whether a pod has work that ends.
func hasEnd(pod *plan.Pod) bool { return pod.Complete.RestartPolicy.Always == nil && len(pod.Apps) > 0 }

// upAt returns when all running containers of a pod have run long enough to call it up.
func (p *podRecord) upAt() (at time.Time) {
	for i := range p.containers {
		c := &p.containers[i]
		up := c.StartedAt.Add(upTime)
		if c.QuickEnds > 0 {
			up = c.StartedAt.Add(10 * upTime)
		}
		if c.State.Live() && up.After(at) {
			at = up
		}
	}
	return at
}

// lastEnd returns when the last of a pod's containers ended.
func (p *podRecord) lastEnd() (at time.Time) {
	for i := range p.containers {
		if end := p.containers[i].FinishedAt; end.After(at) {
			at = end
		}
	}
	return at
}

// outcomes returns the statuses of the pods at the end of RunOnce.
func (kl *Kubelet) outcomes(ctx context.Context, known runOnce, began time.Time) []api.PodStatus {
	pods := []api.PodStatus{}
	for _, name := range slices.Sorted(maps.Keys(kl.desired.pods)) {
		p := kl.record(name) // a new one if there was no sync
		p.pod = kl.desired.pods[name]
		p.origin = p.pod.Origin
		status, problems := kl.view(&p.podSnapshot).status(), p.problems()
		outcome, decided := known[name]
		switch ended := p.lastEnd(); {
		case decided && p.plan.Finished && ended.Before(began):
			status.Message = cmp.Or(status.Message, "was done before, at "+ended.Local().Format(time.DateTime))
		case decided:
		case len(problems) > 0:
			outcome = plan.Problem{Reason: problems[0].Reason, Message: joinProblems(problems)}
		case hasEnd(p.pod) && status.Phase == api.PodRunning:
			status.Message = fmt.Sprintf("it has not finished: %v", context.Cause(ctx))
		default:
			outcome = plan.Problem{Reason: api.ReasonError, Message: fmt.Sprintf("it has not come up: %v", context.Cause(ctx))}
			for i := range p.containers { // the newest attempts come last
				if c := &p.containers[i]; c.Terminated() && c.Failed() {
					outcome.Message = fmt.Sprintf("it has not come up: %v; %v", context.Cause(ctx), c.Exit())
				}
			}
		}
		if outcome.Message != "" {
			status.Phase, status.Reason, status.Message = api.PodFailed, outcome.Reason, outcome.Message
		}
		pods = append(pods, status)
	}
	return pods
}
