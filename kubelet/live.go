package kubelet

import (
	"fmt"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// podView is a pod as it is shown: what the last sync saw, and what goes on since then.
type podView struct {
	*podSnapshot
	doing        map[string]plan.Problem // what the worker is doing now, by container name
	pullProgress func(image string) string
	probeResult  func(*plan.Observed) (unhealthy, notReady string)
}

// view returns a pod of a snapshot with what goes on now.
func (kl *Kubelet) view(s *podSnapshot) *podView {
	v := &podView{podSnapshot: s, doing: map[string]plan.Problem{}, pullProgress: kl.images.Progress, probeResult: kl.probes.Result}
	for name, value := range kl.doing.Range {
		doing := value.(plan.Problem)
		if name.(dockertools.NameParts).PodFullName == s.name && doing.Message > v.doing[doing.Container].Message { // any one of two attempts
			v.doing[doing.Container] = doing
		}
	}
	return v
}

// note records what the worker is doing to a container, until end is called.
func (w *work) note(a plan.Action, reason, format string, args ...any) (end func()) {
	w.kl.doing.Store(a.Name, plan.Problem{Container: a.Name.Name, Reason: reason, Message: fmt.Sprintf(format, args...)})
	return func() { w.kl.doing.Delete(a.Name) }
}
