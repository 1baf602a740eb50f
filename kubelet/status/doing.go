package status

import (
	"fmt"
	"sync"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// Doing is what workers are doing that may take long. Its methods may be called concurrently.
type Doing struct{ all sync.Map } // dockertools.NameParts to plan.Problem

// Begin records what is being done to a container, until end is called.
func (d *Doing) Begin(a plan.Action, reason, format string, args ...any) (end func()) {
	d.all.Store(a.Name, plan.Problem{Container: a.Name.Name, Reason: reason, Message: fmt.Sprintf(format, args...)})
	return func() { d.all.Delete(a.Name) }
}

// Of returns what is being done to the containers of a pod, by container name.
func (d *Doing) Of(podFullName string) map[string]plan.Problem {
	doing := map[string]plan.Problem{}
	for name, value := range d.all.Range {
		if p := value.(plan.Problem); name.(dockertools.NameParts).PodFullName == podFullName && p.Message > doing[p.Container].Message {
			doing[p.Container] = p
		}
	}
	return doing
}
