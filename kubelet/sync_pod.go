package kubelet

import (
	"context"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// syncPod brings one pod to what is wanted of it: look, decide, act, and again
// until there is nothing to do. The pod's worker runs it. It returns when to look
// again by itself.
func (kl *Kubelet) syncPod(ctx context.Context, state *podState) (again time.Time) {
	began, ok := time.Now(), false
	defer func() { // a panic too is work that failed
		if ctx.Err() == nil { // else the kubelet ends, and whatever failed did so for that
			kl.opts.SyncDone(time.Since(began), ok)
		}
	}()
	freed := false // volumes or ports of a pod that is gone
	for {
		wish, overtaken, since := state.take()
		if wish.blocked.message != "" {
			state.complain(nil)
			state.say(glog.Warningf, "waits, as it is: "+wish.blocked.message)
			ok = true
			return time.Time{}
		}
		seen, p, err := kl.look(ctx, state, wish.pod, since)
		if ctx.Err() != nil {
			return time.Time{}
		}
		if err != nil {
			return state.held([]trouble{{reason: api.ReasonDocker, message: err.Error()}}, nil, kl.opts.SyncFrequency)
		}
		kl.syncProbes(ctx, state.fullName, wish.pod, seen)
		if len(p.steps) == 0 {
			state.settled(wish.pod, p)
			kl.images.forget(state.fullName, "") // of containers that are not wanted any more, too
			if freed || wish.pod == nil {
				kl.hints.add("")
			}
			ok = true
			return p.next
		}
		freed = freed || wish.pod != nil && removesOther(p.steps, wish.pod)
		troubles, acted := kl.run(ctx, state, wish.pod, p.steps, overtaken)
		if acted {
			state.said = ""
		}
		if ctx.Err() != nil {
			return time.Time{}
		}
		if len(troubles) > 0 {
			ok = !anyFailed(troubles)
			return earliest(p.next, state.held(troubles, p.notRunning, kl.opts.SyncFrequency))
		}
	}
}

// removesOther says that steps remove containers of another UID than the pod's:
// those of the pod that had its name before.
func removesOther(steps [][]action, pod *wantedPod) bool {
	return slices.ContainsFunc(slices.Concat(steps...), func(a action) bool {
		return a.kind == removeAction && a.name.UID != pod.UID
	})
}

// look plans for one pod on a list begun after since.
func (kl *Kubelet) look(ctx context.Context, state *podState, want *wantedPod, since dockertools.Mark) ([]seenContainer, podPlan, error) {
	list, err := kl.lister.List(ctx, since)
	if err != nil {
		return nil, podPlan{}, err
	}
	seen, err := kl.observePod(ctx, list, state, kl.lastWords)
	if err != nil {
		return nil, podPlan{}, err
	}
	return seen, plan(want, seen, kl.limits, time.Now()), nil
}

// observePod looks at the containers of a pod in a list, and adds what the kubelet
// remembers of them. hear gets the last words of one that has ended; nil leaves out
// what was not heard.
func (kl *Kubelet) observePod(ctx context.Context, list []dockertools.Owned, state *podState, hear hearing) ([]seenContainer, error) {
	seen, err := observe(ctx, kl.lister, list, state.fullName)
	if err != nil {
		return nil, err
	}
	state.recall(ctx, seen, hear)
	for i := range seen {
		seen[i].Unhealthy = kl.probes.verdict(&seen[i])
	}
	return seen, nil
}
