package plan

import (
	"strconv"

	"kubelet14/api"
)

// Verdict says whether a pod has to end for a time.
type Verdict struct {
	Message string // why; empty: it need not
	Grace   int    // the most seconds that its containers have to end
}

// Evict plans the end of a desired pod. With the restart policy never its containers are stopped, since nothing starts twice.
// Otherwise all that are not done are removed, and start anew later. The volumes stay.
//
// A stopped container may exit with 0. Where that would mean success, its next attempt is created first and stays: the newest
// attempt counts, even for a kubelet that starts between the stop and the removal.
func Evict(pod *Pod, containers []Observed, v Verdict) Plan {
	p, remove := newPlanner(pod, containers)
	p.Problems = []Problem{{Reason: api.ReasonEvicted, Message: v.Message}}
	var create []Action
	for _, want := range pod.Containers() {
		canSucceed := want.Name != api.NetworkContainerName && (pod.Complete.RestartPolicy.OnFailure != nil || pod.IsInit(want.Name))
		for _, c := range p.attempts[want.Name] {
			counts := canSucceed && c == p.newest(want.Name)
			switch {
			case pod.startsOnce() && !c.State.Live(), counts && (c.NeverStarted() || pod.Done(&want, c)):
				continue
			case counts && c.State.Live() && !pod.startsOnce():
				next := p.create(&want, v.Message, c.QuickEnds)
				next.NetworkID = c.NetworkContainer
				create = append(create, *next)
			}
			remove = append(remove, c)
		}
	}
	p.step(create)
	if pod.startsOnce() {
		p.stop(remove, v.Message)
	} else {
		p.remove(remove, v.Message)
	}
	for _, step := range p.Steps {
		for i := range step {
			a := &step[i]
			a.Killed = api.ReasonEvicted
			if grace, err := strconv.Atoi(a.Grace); a.Kind == Stop && (err != nil || grace > v.Grace) {
				a.Grace = strconv.Itoa(v.Grace)
			}
		}
	}
	return p.Plan
}

// EndsEviction reports whether an action is the removal that ends an eviction, which kills what did not stop.
func (a *Action) EndsEviction() bool { return a.Kind == Remove && a.Killed == api.ReasonEvicted }
