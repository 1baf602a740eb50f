package watch

import (
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// All tells several watchers, one after the other.
type All []Watcher

func (all All) each(tell func(Watcher)) {
	for _, w := range all {
		tell(w)
	}
}

func (all All) Woken(by Cause)                { all.each(func(w Watcher) { w.Woken(by) }) }
func (all All) DockerEvent(of *plan.Observed) { all.each(func(w Watcher) { w.DockerEvent(of) }) }
func (all All) Listing()                      { all.each(Watcher.Listing) }
func (all All) Synced()                       { all.each(Watcher.Synced) }
func (all All) Worked(podFullName string)     { all.each(func(w Watcher) { w.Worked(podFullName) }) }
func (all All) Acting(a plan.Action)          { all.each(func(w Watcher) { w.Acting(a) }) }
func (all All) Did(a plan.Action)             { all.each(func(w Watcher) { w.Did(a) }) }
func (all All) Changed(pod *status.Pod, change Change, op api.PodOperation) {
	all.each(func(w Watcher) { w.Changed(pod, change, op) })
}
func (all All) Listed(containers, inspected int, busy []string) {
	all.each(func(w Watcher) { w.Listed(containers, inspected, busy) })
}
func (all All) Problem(pod *status.Pod, problem plan.Problem) {
	all.each(func(w Watcher) { w.Problem(pod, problem) })
}
func (all All) Decided(pod *status.Pod, decision Decision, steps int, phase func() api.PodPhase) {
	all.each(func(w Watcher) { w.Decided(pod, decision, steps, phase) })
}
func (all All) Acted(a plan.Action, took time.Duration, err error) {
	all.each(func(w Watcher) { w.Acted(a, took, err) })
}
func (all All) Told(a plan.Action, event, message string) {
	all.each(func(w Watcher) { w.Told(a, event, message) })
}
func (all All) Warned(a plan.Action, event, message string) {
	all.each(func(w Watcher) { w.Warned(a, event, message) })
}

// nothing is a Watcher that ignores everything. A listener embeds it for what it does not need.
type nothing struct{}

func (nothing) Woken(Cause)                                             {}
func (nothing) DockerEvent(*plan.Observed)                              {}
func (nothing) Changed(*status.Pod, Change, api.PodOperation)           {}
func (nothing) Listing()                                                {}
func (nothing) Listed(_, _ int, _ []string)                             {}
func (nothing) Problem(*status.Pod, plan.Problem)                       {}
func (nothing) Decided(*status.Pod, Decision, int, func() api.PodPhase) {}
func (nothing) Synced()                                                 {}
func (nothing) Acting(plan.Action)                                      {}
func (nothing) Acted(plan.Action, time.Duration, error)                 {}
func (nothing) Did(plan.Action)                                         {}
func (nothing) Told(_ plan.Action, _, _ string)                         {}
func (nothing) Warned(_ plan.Action, _, _ string)                       {}
func (nothing) Worked(string)                                           {}
