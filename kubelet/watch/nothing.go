package watch

import (
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

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
