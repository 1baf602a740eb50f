package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// DryRun prints what a sync would do to each pod, and why, and touches nothing.
// It works beside a running kubelet. The error says what of the sources could not be
// read, and which pods could not be looked at.
func (kl *Kubelet) DryRun(ctx context.Context, updates <-chan api.PodUpdate, w io.Writer) error {
	list, blocked, sourcesErr, err := kl.firstLook(ctx, updates)
	if err != nil {
		return err
	}
	failed := []error{sourcesErr}
	origins := kl.unwanted(list)
	for name, pod := range kl.desired.pods {
		origins[name] = pod.Origin
	}
	for _, name := range slices.Sorted(maps.Keys(origins)) {
		pod := kl.desired.pods[name]
		seen, err := kl.observePod(ctx, list, kl.stateOf(name), kl.lastWords)
		fmt.Fprintf(w, "pod %s (%s)\n", name, origins[name])
		if err != nil {
			fmt.Fprintf(w, "  cannot be looked at: %v\n", err)
			failed = append(failed, fmt.Errorf("look at pod %s: %w", name, err))
			continue
		}
		if reason := blocked[name].message; reason != "" {
			fmt.Fprintf(w, "  waits, as it is: %s\n", reason)
			continue
		}
		writePlan(w, plan(pod, seen, kl.limits, time.Now()))
	}
	for i := range list {
		if name := list[i].Of.PodFullName; origins[name] == "" && kl.desired.isSilent(name) {
			origins[name] = list[i].Labels[dockertools.LabelOrigin]
			fmt.Fprintf(w, "pod %s (%s)\n  is left alone: its source has not been read whole\n", name, origins[name])
		}
	}
	return errors.Join(failed...)
}

func writePlan(w io.Writer, p podPlan) {
	for _, step := range p.steps {
		for _, a := range step {
			fmt.Fprintf(w, "  %-6s %s (attempt %d): %s\n", a.kind, a.name.Name, a.name.Attempt, a.reason)
			if a.pull {
				fmt.Fprintf(w, "         after a pull of %s\n", a.want.spec.Image)
			}
		}
	}
	for _, t := range p.notRunning {
		fmt.Fprintf(w, "  %s\n", t)
	}
	if len(p.steps) == 0 && len(p.notRunning) == 0 {
		fmt.Fprintln(w, "  is as it should be")
	}
}
