package kubelet

import (
	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// traceApply traces a change of the desired state, beside what the last sync saw.
func (kl *Kubelet) traceApply(pod *api.Pod, why string) {
	if kl.opts.Trace == nil {
		return
	}
	e := trace.Event{Kind: "apply", Pod: pod.FullName(), Place: pod.Origin, Reason: why}
	old, p := kl.desired.pods[pod.FullName()], kl.pods[pod.FullName()]
	if old != nil {
		e.Changed = api.Changes(&old.Manifest, &pod.Manifest)
	}
	if p != nil {
		e.Rows = step.Compare(old, p.containers, plan.Plan{})
		for i := range e.Rows {
			e.Rows[i].Sign = "?"
		}
	}
	kl.opts.Trace.Add(e)
}

// tracePod traces what the sync loop has found out about a pod.
func (kl *Kubelet) tracePod(kind string, p *podRecord) {
	if t := kl.opts.Trace; t != nil && (kind != "idle" || t.Follows(p.name)) {
		phase := string(kl.view(&p.podSnapshot).status().Phase)
		t.Add(trace.Event{Kind: kind, Pod: p.name, Phase: phase, N: len(p.plan.Steps), Rows: step.Compare(p.pod, p.containers, p.plan)})
	}
}

// traceAct traces the beginning or the end of an action.
func (kl *Kubelet) traceAct(kind string, a plan.Action, err error) {
	e := trace.Event{Kind: kind, Pod: a.Name.PodFullName, Container: a.Name.Name, Attempt: a.Name.Attempt, Op: a.Kind.String(), Reason: a.Reason}
	if err != nil {
		e.Error = problemOf(a, err).Message
	}
	kl.opts.Trace.Add(e)
}

// traceEvent traces an event of Docker. One of a container that no sync has seen yet has no name.
func (kl *Kubelet) traceEvent(id string) {
	e := trace.Event{Kind: "event"}
	if s := kl.snapshot.Load(); s != nil && kl.opts.Trace != nil && id != "" {
		for i := range s.pods {
			for j := range s.pods[i].containers {
				if c := &s.pods[i].containers[j]; c.ID == id {
					e.Pod, e.Container, e.Attempt = c.Of.PodFullName, c.Of.Name, c.Of.Attempt
				}
			}
		}
		kl.opts.Trace.Add(e)
	}
}

// Comparisons returns for each pod, by full name, what is desired, what the last sync saw and
// what is to be done.
func (kl *Kubelet) Comparisons() map[string][]trace.Row {
	rows := map[string][]trace.Row{}
	if s := kl.snapshot.Load(); s != nil {
		for i := range s.pods {
			rows[s.pods[i].name] = step.Compare(s.pods[i].pod, s.pods[i].containers, s.pods[i].plan)
		}
	}
	return rows
}
