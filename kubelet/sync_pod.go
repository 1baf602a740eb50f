package kubelet

import (
	"context"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// syncPod brings one pod to what is wanted of it: look, decide, act, and again
// until there is nothing to do. The pod's worker runs it. It returns when to look
// again by itself.
func (kl *Kubelet) syncPod(ctx context.Context, state *podState) (again time.Time) {
	freed := false // volumes or ports of a pod that is gone
	for {
		wish, since := state.take()
		if wish.blocked != "" {
			if wish.blocked != state.lastErr {
				glog.Warningf("pod %s waits, as it is: %s", state.label(), wish.blocked)
			}
			state.lastErr = wish.blocked
			return time.Time{}
		}
		p, err := kl.look(ctx, state.fullName, wish.pod, since)
		if err == nil && len(p.steps) == 0 {
			state.settled(wish.pod, p)
			if freed || wish.pod == nil {
				kl.hints.add("")
			}
			return p.next
		}
		if err == nil {
			state.said = false
			freed = freed || wish.pod != nil && removesOther(p.steps, wish.pod)
			err = kl.run(ctx, wish.pod, state.label(), p.steps, func() bool { return state.overtaken(wish) })
			state.acted = kl.lister.Mark()
		}
		if ctx.Err() != nil {
			return time.Time{} // the kubelet ends, and whatever failed did so for that
		}
		if err != nil {
			return state.failed(err, kl.opts.SyncFrequency)
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
func (kl *Kubelet) look(ctx context.Context, podFullName string, want *wantedPod, since dockertools.Mark) (podPlan, error) {
	list, err := kl.lister.List(ctx, since)
	if err != nil {
		return podPlan{}, err
	}
	seen, err := observe(ctx, kl.lister, list, podFullName)
	if err != nil {
		return podPlan{}, err
	}
	return plan(want, seen, kl.limits, time.Now()), nil
}
