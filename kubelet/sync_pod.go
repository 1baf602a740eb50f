package kubelet

import (
	"context"
	"time"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// syncPod brings one pod to what is wanted of it: look, decide, act, and again
// until there is nothing to do. The pod's worker runs it. It returns when to look
// again by itself.
func (kl *Kubelet) syncPod(ctx context.Context, state *podState) (again time.Time) {
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
			if wish.pod == nil {
				kl.hints.add("") // its volumes and ports are free now
			}
			return p.next
		}
		if err == nil {
			state.said = false
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
