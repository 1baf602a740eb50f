package plan

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
)

// overdue returns why the pod is stopped for good, which is also a problem: its deadline is past, and it was not done
// before. It is counted from the creation of its oldest container, so those of an overdue pod stay.
func (p *planner) overdue() string {
	seconds := p.pod.Complete.ActiveDeadlineSeconds
	if seconds == nil {
		return ""
	}
	var begun time.Time
	for _, c := range p.own {
		if !p.pod.predates(c) && (begun.IsZero() || c.Created.Before(begun)) {
			begun = c.Created
		}
	}
	deadline := begun.Add(time.Duration(*seconds) * time.Second)
	late := func(c *Observed) bool {
		return !c.FinishedAt.Before(deadline) && !c.IsNetwork() && !p.pod.Container(c.Of.Name).IsSidecar()
	}
	switch {
	case begun.IsZero():
	case deadline.After(p.now):
		p.Next = Earliest(p.Next, deadline)
	case !p.allDone() || slices.ContainsFunc(p.own, late):
		why := fmt.Sprintf("it was not done within its activeDeadlineSeconds of %d", *seconds)
		p.Problems = []Problem{{Reason: api.ReasonDeadline, Message: why}}
		return why
	}
	return ""
}
