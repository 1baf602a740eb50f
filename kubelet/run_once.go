package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// upTime is how long every container must run before RunOnce calls its pod up; ten times as long after a
// crash. Most containers that crash do so at once.
const upTime = 300 * time.Millisecond

// RunOnce starts the pods of every source, and returns their statuses when each one is up, finished or failed; a pod whose
// restart policy lets it finish must finish. A pod that failed, or is not up when ctx is done, has the phase api.PodFailed
// and a message. RunOnce removes no other pods. The error names sources that could not be read; the other pods are started all
// the same. It is the sync loop without removals, and with an end.
func (kl *Kubelet) RunOnce(ctx context.Context, updates <-chan api.PodUpdate) ([]api.PodStatus, error) {
	began := time.Now()
	if err := kl.connect(ctx); err != nil {
		return nil, err
	}
	sourcesErr, err := kl.waitForSources(ctx, updates, kl.applyUpdate)
	if err != nil {
		return nil, err
	}
	final := outcomes{}
	kl.removes = false
	kl.isFinal = func(p *podRecord) bool {
		_, isFinal := final.of(p)
		return isFinal
	}
	err = kl.run(ctx, nil, func() (done bool, again time.Time) {
		done = true
		for name := range kl.desired.pods {
			p := kl.pods[name]
			if outcome, isFinal := final.of(p); isFinal {
				final[name] = outcome
				continue
			}
			done = false
			if at := p.upAt(); at.After(time.Now()) {
				again = plan.Earliest(again, at)
			}
		}
		return done, again
	})
	if err != nil { // another kubelet has the hostname, see giveWay
		return nil, err
	}
	return kl.finalStatuses(ctx, final, began), sourcesErr
}

// waitForSources applies updates until every source is ready or has said why it is not.
func (kl *Kubelet) waitForSources(ctx context.Context, updates <-chan api.PodUpdate, apply func(api.PodUpdate)) (sourcesErr, err error) {
	for {
		select {
		case update := <-updates:
			apply(update)
		case <-ctx.Done():
			waits := slices.DeleteFunc(kl.opts.Sources(), func(s api.SourceStatus) bool { return !s.LastSuccess.IsZero() || !s.FailingSince.IsZero() })
			return nil, fmt.Errorf("not every source of pods is ready: %v: %w", waits, context.Cause(ctx))
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

// outcomes are the final outcomes of RunOnce by full name. A success has no message.
type outcomes map[string]plan.Problem

// of returns the outcome of a pod, and whether it is final.
func (o outcomes) of(p *podRecord) (outcome plan.Problem, final bool) {
	unfinished := p.Plan.Finished && len(p.Plan.Steps) > 0
	if outcome, final = o[p.Name]; final || unfinished || p.work != nil || p.Err != nil {
		return outcome, final
	}
	problems := p.Faults()
	for _, problem := range problems {
		if problem.Reason != api.ReasonPulling && problem.Reason != api.ReasonBackOff {
			return plan.Problem{Reason: problem.Reason, Message: status.Join(problems)}, true
		}
	}
	isUp := !hasEnd(p.Desired) && p.Plan.Init == "" && !p.upAt().After(time.Now())
	return plan.Problem{}, len(problems) == 0 && len(p.Plan.Steps) == 0 && (p.Plan.Finished || isUp)
}

// hasEnd reports whether a pod is to finish by itself.
func hasEnd(pod *plan.Pod) bool { return pod.Complete.RestartPolicy.Always == nil && len(pod.Apps) > 0 }

// upAt returns when all containers of a pod will have run for long enough.
func (p *podRecord) upAt() (at time.Time) {
	for i := range p.Observed {
		c := &p.Observed[i]
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
	for i := range p.Observed {
		if end := p.Observed[i].FinishedAt; end.After(at) {
			at = end
		}
	}
	return at
}

// finalStatuses returns the statuses of the pods at the end of RunOnce.
func (kl *Kubelet) finalStatuses(ctx context.Context, final outcomes, began time.Time) []api.PodStatus {
	pods := []api.PodStatus{}
	for _, name := range slices.Sorted(maps.Keys(kl.desired.pods)) {
		p := kl.record(name) // a new one if there was no sync
		p.Desired = kl.desired.pods[name]
		p.Origin = p.Desired.Origin
		pod, problems := kl.status(&p.Pod), p.Problems()
		outcome, decided := final[name]
		switch ended := p.lastEnd(); {
		case decided && p.Plan.Finished && ended.Before(began):
			pod.Message = cmp.Or(pod.Message, "was done before, at "+ended.Local().Format(time.DateTime))
		case decided:
		case len(problems) > 0:
			outcome = plan.Problem{Reason: problems[0].Reason, Message: status.Join(problems)}
		case hasEnd(p.Desired) && pod.Phase == api.PodRunning:
			pod.Message = fmt.Sprintf("it has not finished: %v", context.Cause(ctx))
		default:
			outcome = plan.Problem{Reason: api.ReasonError, Message: fmt.Sprintf("it has not come up: %v", context.Cause(ctx))}
			for i := range p.Observed { // the newest attempts come last
				if c := &p.Observed[i]; c.Terminated() && c.Failed() {
					outcome.Message = fmt.Sprintf("it has not come up: %v; %v", context.Cause(ctx), c.Exit())
				}
			}
		}
		if outcome.Message != "" {
			pod.Phase, pod.Reason, pod.Message = api.PodFailed, outcome.Reason, outcome.Message
		}
		pods = append(pods, pod)
	}
	return pods
}
