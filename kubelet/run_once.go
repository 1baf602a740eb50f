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
	"sync"
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
// 2014 took the first update of whichever source came first, and asked Docker for
// a status text that Docker never gives.
func (kl *Kubelet) RunOnce(ctx context.Context, updates <-chan api.PodUpdate) ([]PodResult, error) {
	_, blocked, sourcesErr, err := kl.firstLook(ctx, updates)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		results = []PodResult{}
	)
	for name, pod := range kl.desired.pods {
		wg.Go(func() {
			result := PodResult{Pod: pod.Pod, State: "failed", Reason: blocked[name].message}
			if result.Reason == "" {
				result.State, result.Reason = kl.bringUp(ctx, pod)
			}
			mu.Lock()
			defer mu.Unlock()
			results = append(results, result)
		})
	}
	wg.Wait()
	cancel() // nobody waits any more for a pull that is still on its way
	kl.images.wg.Wait()
	slices.SortFunc(results, func(a, b PodResult) int { return strings.Compare(a.Pod.FullName(), b.Pod.FullName()) })
	return results, sourcesErr
}

// firstLook is how RunOnce and DryRun begin: hear every source, look at Docker
// once, and find the pods that must wait for a port. sourcesErr says which sources
// were heard with an error.
func (kl *Kubelet) firstLook(ctx context.Context, updates <-chan api.PodUpdate) (list []dockertools.Owned, blocked map[string]trouble, sourcesErr, err error) {
	if err = kl.greet(ctx); err != nil {
		return nil, nil, nil, err
	}
	if sourcesErr, err = kl.hearSources(ctx, updates); err != nil {
		return nil, nil, nil, err
	}
	if list, err = kl.lister.List(ctx, kl.lister.Mark()); err != nil {
		return nil, nil, nil, err
	}
	return list, kl.blocked(ctx, list), sourcesErr, nil
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
			if err == nil {
				errs = nil
				break
			}
			errs = append(errs, fmt.Errorf("source %q: %w", source, err))
		}
		if kl.desired.heard && len(errs) == len(kl.desired.silent) {
			slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
			return errors.Join(errs...), nil
		}
	}
}

// bringUp starts one pod and says what became of it. A pull is waited for, and so
// is the back-off of a container that crashes, and the end of work that has one; a pull
// that fails is the end.
func (kl *Kubelet) bringUp(ctx context.Context, pod *wantedPod) (state, reason string) {
	memory := newPodState(pod.fullName, kl.events)
	memory.ask(wish{pod: pod}, pod.Origin, 0)
	hasEnd := pod.manifest.RestartPolicy.Always == nil && len(pod.apps) > 0 // its work
	settled := false
	crash, last := "", "" // the last quick end, and the last thing that went wrong
	for {
		_, p, err := kl.look(ctx, memory, pod, kl.lister.Mark())
		troubles := p.notRunning
		if err == nil && len(p.steps) > 0 {
			settled = false
			crash = cmp.Or(restarted(p.steps), crash)
			last = cmp.Or(restarted(p.steps), last)
			troubles, _ = kl.run(ctx, memory, pod, p.steps, context.Background())
			if len(troubles) == 0 {
				continue
			}
		}
		// What the end of the time has cut off says less than what went wrong before.
		if len(troubles) > 0 && (last == "" || ctx.Err() == nil) {
			last = describe(troubles)
		}
		wait := settleTime
		switch {
		case ctx.Err() != nil && last != "":
			return "failed", last
		case ctx.Err() != nil && !settled:
			return "failed", fmt.Sprintf("it has not come up: %v", context.Cause(ctx))
		case ctx.Err() != nil && hasEnd:
			return "running", fmt.Sprintf("it has not finished: %v", context.Cause(ctx))
		case ctx.Err() != nil:
			return "running", ""
		case err != nil && !settled:
			return "failed", err.Error()
		case err != nil:
			last = err.Error() // Docker may come back before the work has its end
		case p.finished && len(troubles) == 0:
			return "finished", ""
		case len(troubles) > 0:
			again, ok := nextChance(troubles)
			if !ok {
				return "failed", last
			}
			wait = time.Until(again)
		case settled && !hasEnd:
			return "running", ""
		default:
			if !settled && hasEnd {
				glog.Infof("pod %s is up: waits for the end of its work", memory.label())
			}
			// One that crashes again and again runs too, most of the times one looks.
			settled, last = true, crash
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// nextChance says when to look again at a pod that is not up. ok is false when one of
// its troubles does not go away by itself.
func nextChance(troubles []trouble) (again time.Time, ok bool) {
	for _, t := range troubles {
		switch t.reason {
		case api.ReasonPulling:
			again = earliest(again, time.Now().Add(settleTime))
		case api.ReasonBackOff:
			again = earliest(again, t.next)
		default:
			return time.Time{}, false
		}
	}
	return again, true
}

// restarted says which container is started again after a quick end, if any is.
func restarted(steps [][]action) string {
	for _, a := range slices.Concat(steps...) {
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
