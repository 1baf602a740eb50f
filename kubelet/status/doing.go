package status

import (
	"fmt"
	"sync"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// Doing is what workers are doing that may take long. Its methods may be called concurrently.
type Doing struct {
	mu  sync.Mutex
	all map[dockertools.NameParts]plan.Problem // guarded by mu
}

// Begin records what is being done to a container, until end is called.
func (d *Doing) Begin(a plan.Action, reason, format string, args ...any) (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.all = map[dockertools.NameParts]plan.Problem{}
	}
	d.all[a.Name] = plan.Problem{Container: a.Name.Name, Reason: reason, Message: fmt.Sprintf(format, args...)}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.all, a.Name)
	}
}

// Of returns what is being done to the containers of a pod, by container name.
func (d *Doing) Of(podFullName string) map[string]plan.Problem {
	d.mu.Lock()
	defer d.mu.Unlock()
	doing := map[string]plan.Problem{}
	for name, p := range d.all {
		if name.PodFullName == podFullName && p.Message > doing[p.Container].Message {
			doing[p.Container] = p
		}
	}
	return doing
}
