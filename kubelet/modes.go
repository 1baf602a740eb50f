package kubelet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// settleTime is how long a container must run before RunOnce calls it up: one
// that crashes mostly does so at once.
const settleTime = time.Second

// PodResult is what became of a pod in RunOnce.
type PodResult struct {
	Pod    api.Pod
	State  string // "running", "finished" or "failed"
	Reason string // why it failed, or has not finished
}

// RunOnce starts the pods of every source and returns when each is up, or has failed;
// a pod whose restart policy lets it finish must have done its work. It removes nothing
// that it was not given. The error says what of the sources could not be read; the pods
// that could be are started all the same. It returns when ctx is done at the latest: a
// pod that is not up by then has failed, with the reason.
//
// It is the sync loop, without removals and with an end.
func (kl *Kubelet) RunOnce(ctx context.Context, updates <-chan api.PodUpdate) ([]PodResult, error) {
	if err := kl.greet(ctx); err != nil {
		return nil, err
	}
	sourcesErr, err := kl.hearSources(ctx, updates)
	if err != nil {
		return nil, err
	}
	kl.removes = false
	decided := map[string]PodResult{}
	last := map[string]string{} // the last thing that went wrong
	kl.run(ctx, nil, func() (bool, time.Time) {
		for name, p := range kl.pods {
			if problem := p.problem(); problem != "" {
				last[name] = problem
			}
			if state, reason := p.outcome(); state != "" && !p.parked {
				decided[name] = PodResult{p.want.Pod, state, reason}
				p.parked = true
			}
		}
		return len(decided) == len(kl.desired.pods), time.Now().Add(settleTime)
	})
	results := []PodResult{}
	for _, name := range slices.Sorted(maps.Keys(kl.desired.pods)) {
		r, ok := decided[name]
		if !ok {
			r = PodResult{kl.desired.pods[name].Pod, "failed", cmp.Or(last[name], fmt.Sprintf("it has not come up: %v", context.Cause(ctx)))}
			if p := kl.pods[name]; p != nil && p.isUp(0) && last[name] == "" {
				r.State, r.Reason = "running", ""
				if p.want.hasEnd() {
					r.Reason = fmt.Sprintf("it has not finished: %v", context.Cause(ctx))
				}
			}
		}
		results = append(results, r)
	}
	return results, sourcesErr
}

// hearSources takes updates until every source has spoken or has said why it
// cannot.
func (kl *Kubelet) hearSources(ctx context.Context, updates <-chan api.PodUpdate) (sourcesErr, err error) {
	for {
		select {
		case update := <-updates:
			kl.apply(update)
		case <-ctx.Done():
			return nil, fmt.Errorf("not every source of pods has spoken (%s): %w",
				strings.Join(slices.Sorted(maps.Keys(kl.desired.silent)), ", "), context.Cause(ctx))
		}
		var errs []error
		for source, err := range kl.desired.silent {
			if err != nil {
				errs = append(errs, fmt.Errorf("source %q: %w", source, err))
			}
		}
		if kl.desired.heard && len(errs) == len(kl.desired.silent) {
			slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
			return errors.Join(errs...), nil
		}
	}
}

// hasEnd says that the pod has work that ends.
func (w *wantedPod) hasEnd() bool {
	return w.manifest.RestartPolicy.Always == nil && len(w.apps) > 0
}

// isUp says that all containers of the pod have run for so long.
func (p *podState) isUp(long time.Duration) bool {
	if len(p.plan.steps) > 0 || len(p.plan.notRunning) > 0 {
		return false
	}
	return !slices.ContainsFunc(p.containers, func(c seenContainer) bool {
		return c.State.Live() && time.Since(c.StartedAt) < long
	})
}

// outcome says what has become of a pod in RunOnce; "" is not known yet.
func (p *podState) outcome() (state, reason string) {
	left := slices.Concat(p.troubles.list(), p.plan.notRunning)
	hopeless := slices.ContainsFunc(left, func(t trouble) bool { return t.reason != api.ReasonPulling && t.reason != api.ReasonBackOff })
	switch {
	case p.work != nil:
		return "", ""
	case p.blocked.message != "":
		return "failed", p.blocked.message
	case hopeless:
		return "failed", describe(left)
	case p.plan.finished && len(p.plan.steps) == 0:
		return "finished", ""
	case p.isUp(settleTime) && !p.want.hasEnd():
		return "running", ""
	}
	return "", ""
}

// problem is what is wrong with a pod now, or was before its last restart.
func (p *podState) problem() string {
	left := slices.DeleteFunc(slices.Concat(p.troubles.list(), p.plan.notRunning), func(t trouble) bool { return t.reason == api.ReasonPulling })
	if len(left) > 0 {
		return describe(left)
	}
	for _, a := range slices.Concat(p.plan.steps...) {
		if a.kind == createAction && a.quickEnds > 0 {
			return fmt.Sprintf("container %q was started again: %s", a.name.Name, a.reason)
		}
	}
	return ""
}

// WriteResults prints what became of each pod as a table.
func WriteResults(w io.Writer, results []PodResult) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tSTATE\tFROM\tREASON")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Pod.FullName(), r.State, r.Pod.Origin, oneLine(cmp.Or(r.Reason, "-")))
	}
	return table.Flush()
}

// DryRun prints what a sync would do to each pod, and why, and touches nothing. The
// error says what of the sources could not be read, and which pods could not be looked at.
func (kl *Kubelet) DryRun(ctx context.Context, updates <-chan api.PodUpdate, w io.Writer) error {
	if err := kl.greet(ctx); err != nil {
		return err
	}
	sourcesErr, err := kl.hearSources(ctx, updates)
	if err != nil {
		return err
	}
	list, err := kl.observer.list(ctx)
	if err != nil {
		return err
	}
	kl.look(list, kl.observer.inspect(ctx, list))
	blocked := kl.blocked(list)
	failed := []error{sourcesErr}
	for _, name := range slices.Sorted(maps.Keys(kl.pods)) {
		p := kl.pods[name]
		fmt.Fprintf(w, "pod %s\n", p.label())
		switch {
		case p.lookErr != nil:
			fmt.Fprintf(w, "  cannot be looked at: %v\n", p.lookErr)
			failed = append(failed, fmt.Errorf("look at pod %s: %w", name, p.lookErr))
		case blocked[name].message != "":
			fmt.Fprintf(w, "  waits, as it is: %s\n", blocked[name].message)
		default:
			writePlan(w, p.plan)
		}
	}
	for i := range list {
		if name := list[i].Of.PodFullName; kl.pods[name] == nil {
			kl.podState(name)
			fmt.Fprintf(w, "pod %s (%s)\n  is left alone: its source has not been read whole\n", name, list[i].Labels[dockertools.LabelOrigin])
		}
	}
	return errors.Join(failed...)
}

func writePlan(w io.Writer, p podPlan) {
	for _, a := range slices.Concat(p.steps...) {
		fmt.Fprintf(w, "  %-6s %s (attempt %d): %s\n", a.kind, a.name.Name, a.name.Attempt, a.reason)
		if a.pull {
			fmt.Fprintf(w, "         after a pull of %s\n", a.want.spec.Image)
		}
	}
	for _, t := range p.notRunning {
		fmt.Fprintf(w, "  %s\n", t)
	}
	if len(p.steps) == 0 && len(p.notRunning) == 0 {
		fmt.Fprintln(w, "  is as it should be")
	}
}

// Cleanup stops and removes every container of this kubelet, and then every volume. It
// is the sync loop with nothing wanted, and with an end.
func (kl *Kubelet) Cleanup(ctx context.Context) error {
	if err := kl.greet(ctx); err != nil {
		return err
	}
	kl.desired, kl.pods, kl.removes = desired{heard: true}, map[string]*podState{}, true
	removed, failed := map[string]bool{}, map[string]error{}
	kl.run(ctx, nil, func() (bool, time.Time) {
		for name, p := range kl.pods {
			removed[name] = true
			if left := p.troubles.list(); len(left) > 0 && p.work == nil {
				failed[name] = fmt.Errorf("pod %s: %s", p.label(), describe(left))
			}
		}
		return len(failed) == len(kl.pods), time.Time{}
	})
	if len(failed) > 0 {
		return errors.Join(slices.Collect(maps.Values(failed))...)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := kl.opts.Volumes.EmptyTrash(ctx); err != nil {
		return err
	}
	glog.Infof("removed %d pods of hostname %s and root_dir %s, and all volumes there", len(removed), kl.opts.Identity.Hostname, kl.opts.Identity.RootDir)
	return nil
}
