package plan

import (
	"strconv"

	"kubelet14/api"
)

// Verdict is whether a pod has to end for a time.
type Verdict struct {
	Message string // why; empty: it has not
	Grace   int    // the most seconds that its containers have to end
}

// Evict plans the end of a pod that is desired, by its restart policy. With always all of it is removed, and starts anew
// when it may. With never it is stopped: nothing starts twice. With onFailure what runs is killed and removed in one call:
// after a stop it may have ended with 0, and would count as done if the kubelet were killed before the removal. What is done
// stays; what is older goes first, since an attempt counts when it is the newest. The volumes stay.
func Evict(pod *Pod, containers []Observed, v Verdict) Plan {
	p := planner{pod: pod}
	p.Problems = []Problem{{Reason: api.ReasonEvicted, Message: v.Message}}
	var all, live, dead []*Observed
	var kill []Action
	for i := range containers {
		c, want := &containers[i], pod.Container(containers[i].Of.Name)
		all = append(all, c)
		switch {
		case c.State.Live():
			live, kill = append(live, c), append(kill, on(Remove, c, v.Message))
		case want == nil || !IsNewest(containers, i) || !pod.Done(want, c):
			dead = append(dead, c)
		}
	}
	switch policy := pod.Complete.RestartPolicy; {
	case policy.Never != nil:
		p.remove(live, v.Message)
		p.Steps = p.Steps[:max(len(p.Steps)-1, 0)]
	case policy.OnFailure != nil:
		p.remove(dead, v.Message)
		p.step(kill)
	default:
		p.remove(all, v.Message)
	}
	for _, step := range p.Steps {
		for i := range step {
			step[i].Killed = api.ReasonEvicted
			if grace, err := strconv.Atoi(step[i].Grace); err != nil || grace > v.Grace {
				step[i].Grace = strconv.Itoa(v.Grace)
			}
		}
	}
	return p.Plan
}

// IsNewest reports whether an attempt is the last of its container in a pod's containers, as they are sorted.
func IsNewest(containers []Observed, i int) bool {
	return i+1 == len(containers) || containers[i+1].Of.Name != containers[i].Of.Name
}
