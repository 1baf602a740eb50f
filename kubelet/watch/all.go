package watch

import (
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// All tells several watchers, one after the other.
type All []Watcher

func (all All) Woken(by Cause) {
	for _, w := range all {
		w.Woken(by)
	}
}

func (all All) DockerEvent(of *plan.Observed) {
	for _, w := range all {
		w.DockerEvent(of)
	}
}

func (all All) Changed(pod *status.Pod, change Change, op api.PodOperation) {
	for _, w := range all {
		w.Changed(pod, change, op)
	}
}

func (all All) Listing() {
	for _, w := range all {
		w.Listing()
	}
}

func (all All) Listed(containers, inspected int, busy []string) {
	for _, w := range all {
		w.Listed(containers, inspected, busy)
	}
}

func (all All) Problem(pod *status.Pod, problem plan.Problem) {
	for _, w := range all {
		w.Problem(pod, problem)
	}
}

func (all All) Decided(pod *status.Pod, decision Decision, steps int, phase func() api.PodPhase) {
	for _, w := range all {
		w.Decided(pod, decision, steps, phase)
	}
}

func (all All) Synced() {
	for _, w := range all {
		w.Synced()
	}
}

func (all All) Acting(a plan.Action) {
	for _, w := range all {
		w.Acting(a)
	}
}

func (all All) Acted(a plan.Action, took time.Duration, err error) {
	for _, w := range all {
		w.Acted(a, took, err)
	}
}

func (all All) Did(a plan.Action) {
	for _, w := range all {
		w.Did(a)
	}
}

func (all All) Told(a plan.Action, event, message string) {
	for _, w := range all {
		w.Told(a, event, message)
	}
}

func (all All) Warned(a plan.Action, event, message string) {
	for _, w := range all {
		w.Warned(a, event, message)
	}
}

func (all All) Worked(podFullName string) {
	for _, w := range all {
		w.Worked(podFullName)
	}
}
