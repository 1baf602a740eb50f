// Package plan decides what to do to a pod. It is pure: the result depends on the arguments alone. A worker carries out a
// plan, -dry_run prints it, and the cases in testdata test it.
//
//	desired state (Pod) ──────────┐
//	observed state ([]Observed) ──┼─▶ Make ─▶ Plan: steps of actions, each with its reason
//	limits, now ──────────────────┘
//
//	all pods, all containers ───────▶ Admit ─▶ pods that must wait for a host port or a UID
//
// Two rules follow from Docker being the only memory:
//
//   - Only the newest attempt of a container counts. Older ones are stopped.
//   - A replacement is created before the container it replaces is stopped. If the
//     kubelet is killed in between, the next one finds the replacement and continues;
//     and if the creation fails, the old container keeps running.
//
// A third rule is for init containers: while one must run, the apps, which are the manifest's containers,
// are created, replaced and stopped as usual, but not started.
package plan

import (
	"fmt"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Plan is what to do to one pod. The actions of a step may run at the same time; each step begins when
// the one before it has ended.
type Plan struct {
	Steps    [][]Action
	Next     time.Time // when to plan again even if nothing changes; zero: not needed
	Problems []Problem // why containers do not run although Steps will not start them
	Finished bool      // every app container is done and never runs again, or the pod is stopped or overdue
	Init     string    // the init container that runs or must run before the apps start; empty: none
}

// Actions returns the actions of all steps.
func (p *Plan) Actions() []Action { return slices.Concat(p.Steps...) }

// Kind is the kind of an Action.
type Kind int

// The kinds of actions.
const (
	Create Kind = iota
	Start       // and run the postStart hook
	Stop        // after the preStop hook
	Remove
)

// String returns the verb for k.
func (k Kind) String() string { return [...]string{"create", "start", "stop", "remove"}[k] }

// Action is one thing to do to a container, and why.
type Action struct {
	Kind      Kind
	Name      dockertools.NameParts
	ID        string // Docker's; empty for a container that the same plan creates
	Reason    string // for display
	NetworkID string // of the network container it joins; empty for one that the same plan creates
	Lifecycle string // its hooks, see dockertools.LabelLifecycle
	Grace     string // see dockertools.LabelGrace

	// Of a Create:
	Container   *Container
	Crashes     int       // in a row before this attempt
	Restarts    int       // attempts before this one that were started, with the same hash
	PulledSince time.Time // its image must have been pulled at this time or later; zero: any present image will do
	PodIP       string    // if the container needs it; filled in when the network container runs

	// Of a Start:
	Others []string // the ids of the container's other attempts, of which none may run

	// Of a Stop, and of the Remove after it in an eviction:
	Killed string // the reason, see Observed; empty if it is only replaced
	Paused bool   // so that no hook can run in it
	turn   int    // those with a smaller one are stopped before, see dockertools.LabelSidecar
}

// Problem is why a container does not run as desired, or at all.
type Problem struct {
	Container string    // empty: the problem is the pod's
	Reason    string    // one of api's Reason constants
	Message   string    // for display
	RetryAt   time.Time // zero: when something changes
}

// Error makes a Problem an error.
func (p Problem) Error() string {
	if p.Container == "" {
		return p.Message
	}
	return fmt.Sprintf("container %q: %s", p.Container, p.Message)
}

// IsFailure reports whether the problem is a failure, not a pull or a wait.
func (p Problem) IsFailure() bool {
	return p.RetryAt.IsZero() && p.Reason != api.ReasonPulling && p.Reason != api.ReasonNeverRestarted && p.Reason != api.ReasonConfig
}

// Limits are the settings that plans depend on.
type Limits struct {
	MaxBackoff        time.Duration // longest wait between two attempts
	MaxDeadContainers int           // to keep of each container; 0: all
	MinDeadAge        time.Duration // youngest age at which a dead attempt may be removed
	PodNetwork        string        // of the pods without HostNetwork
}

// Make compares a pod with its containers, and returns what to do. A nil pod is no longer desired. The
// containers are all of this full name, whatever their UID, ordered by name and attempt.
func Make(pod *Pod, containers []Observed, limits Limits, now time.Time) Plan {
	p, unknown := newPlanner(pod, containers)
	p.limits, p.now = limits, now
	if pod == nil {
		p.remove(unknown, "its pod is no longer wanted")
		return p.Plan
	}
	p.remove(unknown, "its pod no longer has such a container")
	why := pod.Stopped
	if why == "" {
		why = p.overdue()
	}
	if p.Finished = why != ""; p.Finished {
		p.stop(p.own, why)
		return p.Plan
	}
	p.dropDoubles()
	if p.Finished = p.allDone(); p.Finished {
		p.finish()
	} else {
		p.converge()
	}
	p.removeDead()
	p.checkRestartPolicies()
	return p.Plan
}

// planner holds the input of Make and the plan made so far.
type planner struct {
	Plan
	pod      *Pod
	limits   Limits
	now      time.Time
	own      []*Observed            // the pod's containers
	attempts map[string][]*Observed // of these, by container name, oldest first
}

// newPlanner returns a planner, and the containers that are not the pod's.
func newPlanner(pod *Pod, containers []Observed) (p planner, unknown []*Observed) {
	p = planner{pod: pod, attempts: map[string][]*Observed{}}
	for i := range containers {
		c := &containers[i]
		if pod == nil || c.Of.UID != pod.UID || pod.Container(c.Of.Name) == nil {
			unknown = append(unknown, c)
			continue
		}
		p.own, p.attempts[c.Of.Name] = append(p.own, c), append(p.attempts[c.Of.Name], c)
	}
	return p, unknown
}

// Earliest returns the earlier of two times. The zero time means never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (p *planner) step(actions []Action) {
	if len(actions) > 0 {
		p.Steps = append(p.Steps, actions)
	}
}

// newest returns the attempt that counts, or nil.
func (p *planner) newest(name string) *Observed {
	for _, c := range slices.Backward(p.attempts[name]) {
		if c.State != dockertools.StateRemoving {
			return c
		}
	}
	return nil
}

// allDone reports whether every app container is done, or will never start because an init container
// failed. A pod without app containers is only its network container, and never finishes.
func (p *planner) allDone() bool {
	if p.initFailed() {
		return true
	}
	for i := range p.pod.Apps {
		c := p.newest(p.pod.Apps[i].Name)
		if c == nil || !p.pod.Done(&p.pod.Apps[i], c) {
			return false
		}
		if moment := c.restartMoment(); moment.After(p.now) {
			p.Next = Earliest(p.Next, moment)
			return false
		}
	}
	return len(p.pod.Apps) > 0
}
