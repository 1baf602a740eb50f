package watch

import (
	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// Log writes to the program's log.
type Log struct{ nothing }

// Changed logs the place of the pod's manifest. Later lines about the pod have its name alone.
func (Log) Changed(pod *status.Pod, change Change, _ api.PodOperation) {
	glog.Infof("%s: %v", pod.Label(), change)
}

// Problem logs a problem by how much it matters. A pull logs itself.
func (Log) Problem(pod *status.Pod, problem plan.Problem) {
	switch {
	case pod.Waits():
		glog.Warningf("pod %s waits: %v", pod.Name, problem)
	case problem.IsFailure():
		glog.Errorf("%s: %v", pod.Label(), problem)
	case problem.Reason == api.ReasonPulling:
		glog.V(2).Infof("pod %s: %v", pod.Name, problem)
	default:
		glog.Warningf("pod %s: %v", pod.Name, problem)
	}
}

// Did logs what people wait for, a start or a stop, and the rest for -v=2.
func (Log) Did(a plan.Action) {
	level := glog.Level(2)
	if a.Kind == plan.Start || a.Kind == plan.Stop {
		level = 0
	}
	glog.V(level).Infof("pod %s: %s container %q (attempt %d): %s", a.Name.PodFullName, done(a.Kind), a.Name.Name, a.Name.Attempt, a.Reason)
}

func (Log) Told(a plan.Action, event, message string) {
	glog.V(2).Infof("pod %s: container %q: %s: %s", a.Name.PodFullName, a.Name.Name, event, message)
}

func (Log) Warned(a plan.Action, event, message string) {
	glog.Warningf("pod %s: container %q: %s: %s", a.Name.PodFullName, a.Name.Name, event, message)
}

// done returns the verb for an action that is done.
func done(kind plan.Kind) string {
	return map[plan.Kind]string{plan.Create: "created", plan.Start: "started", plan.Stop: "stopped", plan.Remove: "removed"}[kind]
}
