// Package watch is how the kubelet tells what happens. It tells each thing once, to one Watcher.
// The listeners are the log (Log), the events (Events), and the trace (package trace).
//
//	sync loop ─────────┐                ┌▶ Log
//	workers ───────────┼─▶ Watcher (All)┼▶ Events
//	events of Docker ──┘                └▶ trace.Trace
//
// The kubelet does not depend on them: without a listener it does the same. Pulls, probes and the look at the host
// add their events with Events.Add and write their own log lines: no other listener wants these, and a pull logs
// its progress, which is no event.
package watch

import (
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// Watcher is told what happens, on the goroutine on which it happens. Its methods must not block, and keep
// nothing that they are given.
type Watcher interface {
	// Woken may be called by any goroutine: something asks for a sync.
	Woken(by Cause)
	// DockerEvent is called by the goroutine that reads Docker's events. The container is nil if no sync has seen it.
	DockerEvent(of *plan.Observed)

	// The sync loop calls those that follow.

	// Changed: the desired state of a pod has changed. The pod is as the last sync saw it, but for Desired.
	Changed(pod *status.Pod, change Change, op api.PodOperation)
	// Listing: a sync asks Docker for its list.
	Listing()
	// Listed: it has a list of so many containers, has inspected those that have changed, and skips the busy pods.
	Listed(containers, inspected int, busy []string)
	// Problem: a pod has a problem that is new or has changed.
	Problem(pod *status.Pod, problem plan.Problem)
	// Decided: what is done about an idle pod. steps is the number of steps that its worker carries out; phase returns the phase of its status.
	Decided(pod *status.Pod, decision Decision, steps int, phase func() api.PodPhase)
	// Synced: the sync has decided about all pods.
	Synced()

	// The workers call those that follow, several at a time.

	// Acting and Acted enclose an action. err is nil if nothing is wrong.
	Acting(a plan.Action)
	Acted(a plan.Action, took time.Duration, err error)
	// Did: Docker has done it.
	Did(a plan.Action)
	// Told and Warned: something happened on the way. After a warning the action goes on.
	Told(a plan.Action, event, message string)
	Warned(a plan.Action, event, message string)
	// Worked: the work on a pod has ended. It comes before the wakeup.
	Worked(podFullName string)
}
