package trace

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/watch"
)

// These methods make a Trace a watch.Watcher.

func (t *Trace) Woken(by watch.Cause) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if by == watch.SET || by == watch.UPDATE {
		t.coming = false
	}
	if !slices.Contains(t.because, by.String()) {
		t.because = append(t.because, by.String())
	}
}

func (t *Trace) DockerEvent(of *plan.Observed) {
	e := Event{Kind: Docker}
	if of != nil {
		e.Pod, e.Container, e.Attempt = of.Of.PodFullName, of.Of.Name, of.Of.Attempt
	}
	t.Add(e)
}

// Changed shows the desired state beside what the last sync saw. Nothing is compared yet.
func (t *Trace) Changed(pod *status.Pod, change watch.Change, _ api.PodOperation) {
	e := Event{Kind: Apply, Pod: pod.Name, Place: pod.Origin, Change: change}
	compare := t.Compare
	if len(pod.Observed) == 0 { // Docker may have older versions: they get the first letters
		compare = new(Trace).Compare
	}
	e.Rows, e.Changed = compare(pod)
	for i := range e.Rows {
		if e.Rows[i].Sign = "?"; len(pod.Observed) == 0 {
			e.Rows[i].Version = ""
		}
	}
	t.Add(e)
}

func (t *Trace) Listing() { t.Add(Event{Kind: List}) }

func (t *Trace) Listed(containers, inspected int, busy []string) {
	t.Add(Event{Kind: Listed, N: containers, Inspected: inspected, Pods: busy})
}

func (t *Trace) Problem(*status.Pod, plan.Problem) {} // the status has it

// Decided leaves out a pod that stays as it is: it is kept, it backs off, or it rests and rested before.
func (t *Trace) Decided(pod *status.Pod, decision watch.Decision, steps int, phase func() api.PodPhase) {
	kind, shown := map[watch.Decision]Kind{watch.Rests: Idle, watch.Asks: Wait, watch.Works: Plan}[decision]
	if !shown || kind == Idle && !t.Follows(pod.Name) {
		return
	}
	e := Event{Kind: kind, Pod: pod.Name, Phase: string(phase())}
	e.Rows, _ = t.Compare(pod)
	t.Add(e)
	if decision == watch.Works {
		t.Add(Event{Kind: Work, Pod: pod.Name, N: steps})
	}
}

// Synced ends the change that goes on, if nothing more is to come.
func (t *Trace) Synced() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.again && !t.coming {
		t.rest()
	}
}

func (t *Trace) Acting(a plan.Action) { t.Add(action(Begin, a)) }

func (t *Trace) Acted(a plan.Action, took time.Duration, err error) {
	e := action(End, a)
	if e.Took = took; err != nil {
		problem, _ := errors.AsType[plan.Problem](err)
		e.Error = cmp.Or(problem.Message, err.Error())
	}
	t.Add(e)
}

func action(kind Kind, a plan.Action) Event {
	return Event{Kind: kind, Pod: a.Name.PodFullName, Container: a.Name.Name, Attempt: a.Name.Attempt, Op: a.Kind.String(), Reason: a.Reason}
}

func (t *Trace) Did(plan.Action)                    {} // Acted tells it
func (t *Trace) Told(plan.Action, string, string)   {}
func (t *Trace) Warned(plan.Action, string, string) {}

func (t *Trace) Worked(podFullName string) { t.Add(Event{Kind: Ended, Pod: podFullName}) }
