package plan

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
)

// Two attempts of a container must not run at the same time: they write to the same volumes. The kubelet
// starts an attempt only when the others have ended, but anybody can start an old one: `docker restart`
// does it a moment after the kubelet has seen the container end.

// restartMoment returns until when `docker restart` may start a stopped container again. Until then it gets
// no next attempt and its pod is not finished. It is zero unless somebody stopped the container.
func (c *Observed) restartMoment() time.Time {
	if !c.Signalled {
		return time.Time{}
	}
	return c.FinishedAt.Add(2 * time.Second)
}

// dropDoubles removes the newest attempt of a container at once if an identical older one started before it.
func (p *planner) dropDoubles() {
	var drop []Action
	for _, want := range p.pod.InitAndApps() {
		newest := p.newest(want.Name)
		for newest != nil && slices.ContainsFunc(p.attempts[want.Name], newest.doubles) {
			drop = append(drop, on(Remove, newest, "an older attempt runs again"))
			p.attempts[want.Name] = slices.DeleteFunc(p.attempts[want.Name], func(c *Observed) bool { return c == newest })
			newest = p.newest(want.Name)
		}
	}
	p.step(drop)
}

// doubles reports whether an attempt runs, or would run, beside an identical older one.
func (c *Observed) doubles(older *Observed) bool {
	same := older != c && older.Of.Hash == c.Of.Hash && older.NetworkContainer == c.NetworkContainer
	return same && older.State.Live() && (!c.HasStarted() || c.State.Live() && !older.StartedAt.After(c.StartedAt))
}

// checkRestartPolicies adds a problem for each container that Docker itself restarts.
func (p *planner) checkRestartPolicies() {
	for _, want := range p.pod.Containers() {
		if c := p.newest(want.Name); c != nil && c.RestartPolicy != "" {
			p.Problems = append(p.Problems, Problem{Container: want.Name, Reason: api.ReasonRestartPolicy, Message: fmt.Sprintf(
				"Docker restarts it by itself: somebody gave it the restart policy %s; `docker update --restart=no %s` undoes that",
				c.RestartPolicy, c.Of)})
		}
	}
}

// others returns the ids of the other attempts of a container.
func (p *planner) others(of *Observed) (ids []string) {
	for _, c := range p.attempts[of.Of.Name] {
		if c.ID != of.ID {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// IsNewest reports whether containers[i] is the newest attempt of its container.
func IsNewest(containers []Observed, i int) bool {
	return i+1 == len(containers) || containers[i+1].Of.Name != containers[i].Of.Name
}
