package kubelet

import (
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
// crashes mostly does so at once.
const upTime = 300 * time.Millisecond

// RunOnce starts the pods of every source. It returns their statuses when each pod is up, has
// finished or has failed; one with a restart policy that lets it finish must finish. A pod
// that failed has the phase api.PodFailed, and its message says why; so has one that is not
// up when ctx is done. RunOnce removes nothing that it was not given. The error is about
// sources that could not be read; the pods that could be read are started.
//
// It is the sync loop without removals and with an end.
func (kl *Kubelet) RunOnce(ctx context.Context, updates <-chan api.PodUpdate) ([]api.PodStatus, error) {
	if err := kl.connect(ctx); err != nil {
		return nil, err
	}
	sourcesErr, err := kl.waitForSources(ctx, updates)
	if err != nil {
		return nil, err
	}
	r := &runOnce{outcomes: map[string]plan.Problem{}, last: map[string]plan.Problem{}}
	kl.removes, kl.runOnce = false, r
	kl.run(ctx, nil, func() (done bool, again time.Time) {
		done = true
		for name := range kl.desired.pods {
			p := kl.pods[name]
			if r.decided(p) {
				continue
			}
			done = false
			if at := p.upAt(); at.After(time.Now()) {
				again = earliest(again, at)
			}
		}
		return done, again
	})
	return kl.outcomes(ctx, r), sourcesErr
}

// waitForSources applies updates until every source is ready or has said why it is not.
func (kl *Kubelet) waitForSources(ctx context.Context, updates <-chan api.PodUpdate) (sourcesErr, err error) {
	for {
		select {
		case update := <-updates:
			kl.applyUpdate(update)
		case <-ctx.Done():
			return nil, fmt.Errorf("not every source of pods is ready (%s): %w",
				strings.Join(slices.Sorted(maps.Keys(kl.desired.unsynced)), ", "), context.Cause(ctx))
		}
		var errs []error
		for _, source := range slices.Sorted(maps.Keys(kl.desired.unsynced)) {
			if err := kl.desired.unsynced[source]; err != nil {
				errs = append(errs, fmt.Errorf("source %q: %w", source, err))
			}
		}
		if kl.desired.known && len(errs) == len(kl.desired.unsynced) {
			return errors.Join(errs...), nil
		}
	}
}

// runOnce is what RunOnce knows of its pods, by full name.
type runOnce struct {
	outcomes map[string]plan.Problem // of pods that are decided; no message: success
	last     map[string]plan.Problem // the last problem that a pod had
}

// decided reports whether the outcome of a pod is known. Nothing more is then done to it.
func (r *runOnce) decided(p *podRecord) bool {
	if _, ok := r.outcomes[p.name]; ok {
		return true
	}
	if p.work != nil || p.err != nil {
		return false
	}
	problems := p.problems()
	permanent := slices.IndexFunc(problems, func(p plan.Problem) bool { return p.Reason != api.ReasonPulling && p.Reason != api.ReasonBackOff })
	if len(problems) > 0 && problems[0].Reason != api.ReasonPulling {
		r.last[p.name] = plan.Problem{Reason: problems[0].Reason, Message: joinProblems(problems)}
	}
	for _, a := range slices.Concat(p.plan.Steps...) {
		if a.Kind == plan.Create && a.Crashes > 0 {
			r.last[p.name] = plan.Problem{Reason: api.ReasonError, Message: fmt.Sprintf("container %q was started again: %s", a.Name.Name, a.Reason)}
		}
	}
	switch {
	case permanent >= 0:
		r.outcomes[p.name] = plan.Problem{Reason: problems[permanent].Reason, Message: joinProblems(problems)}
	case len(problems) == 0 && len(p.plan.Steps) == 0 && (p.plan.Finished || !hasEnd(p.pod) && !p.upAt().After(time.Now())):
		r.outcomes[p.name] = plan.Problem{}
	default:
		return false
	}
	return true
}

// hasEnd reports whether a pod has work that ends.
func hasEnd(pod *plan.Pod) bool { return pod.Manifest.RestartPolicy.Always == nil && len(pod.Apps) > 0 }

// upAt returns when all running containers of a pod have run for upTime.
func (p *podRecord) upAt() (at time.Time) {
	for i := range p.containers {
		if c := &p.containers[i]; c.State.Live() && c.StartedAt.Add(upTime).After(at) {
			at = c.StartedAt.Add(upTime)
		}
	}
	return at
}

// outcomes returns the statuses of the pods at the end of RunOnce.
func (kl *Kubelet) outcomes(ctx context.Context, r *runOnce) []api.PodStatus {
	for name, pod := range kl.desired.pods {
		p := kl.record(name) // a new one if there was no sync
		p.pod, p.origin = pod, pod.Origin
	}
	kl.publish(0)
	pods := []api.PodStatus{}
	for _, s := range kl.snapshot.Load().pods {
		status := s.status()
		outcome, decided := r.outcomes[s.name]
		last, hasLast := r.last[s.name]
		switch {
		case !decided && hasLast:
			outcome = last
		case !decided && hasEnd(s.pod) && status.Phase == api.PodRunning:
			status.Message = fmt.Sprintf("it has not finished: %v", context.Cause(ctx))
		case !decided:
			outcome = plan.Problem{Reason: api.ReasonError, Message: fmt.Sprintf("it has not come up: %v", context.Cause(ctx))}
		}
		if outcome.Message != "" {
			status.Phase, status.Reason, status.Message = api.PodFailed, outcome.Reason, outcome.Message
		}
		pods = append(pods, status)
	}
	return pods
}
