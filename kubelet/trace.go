package kubelet

import (
	"context"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
)

// traceApply traces a change of the desired state, beside what the last sync saw. Nothing is compared yet.
func (kl *Kubelet) traceApply(pod *api.Pod, why string) {
	if kl.opts.Trace == nil && kl.opts.Step == nil {
		return
	}
	e := trace.Event{Kind: "apply", Pod: pod.FullName(), Place: pod.Origin, Reason: why}
	s := podSnapshot{name: e.Pod}
	if p := kl.pods[e.Pod]; p != nil {
		s.containers = p.containers
	}
	if old := kl.desired.pods[e.Pod]; old == nil || pod != &old.Pod { // else it is no longer wanted
		s.pod = plan.NewPod(*pod, kl.opts.NetworkContainerImage, time.Now(), lifecycleLabel)
	}
	e.Rows, e.Changed = s.compare(kl)
	for i := range e.Rows {
		e.Rows[i].Sign = "?"
	}
	kl.opts.Trace.Add(e)
}

// compare compares what is desired of a pod with what a sync saw.
func (p *podSnapshot) compare(kl *Kubelet) (rows []trace.Row, edited []string) {
	return kl.versions.Compare(p.name, p.pod, p.containers, p.plan)
}

// tracePod traces what the sync loop has found out about a pod.
func (kl *Kubelet) tracePod(kind string, p *podRecord) {
	if t := kl.opts.Trace; t != nil && (kind != "idle" || t.Follows(p.name)) {
		rows, _ := p.compare(kl)
		t.Add(trace.Event{Kind: kind, Pod: p.name, Phase: string(kl.view(&p.podSnapshot).status().Phase), Rows: rows})
	}
}

// traceAct traces the beginning of an action, and what it returns the end.
func (kl *Kubelet) traceAct(a plan.Action) (end func(error)) {
	e := trace.Event{Kind: "begin", Pod: a.Name.PodFullName, Container: a.Name.Name, Attempt: a.Name.Attempt, Op: a.Kind.String(), Reason: a.Reason}
	kl.opts.Trace.Add(e)
	began := time.Now()
	return func(err error) {
		if e.Kind, e.Took = "end", time.Since(began); err != nil {
			e.Error = problemOf(a, err).Message
		}
		kl.opts.Trace.Add(e)
	}
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

// inspects traces which containers the sync loop inspects.
type inspects struct {
	dockertools.Interface
	trace *trace.Trace
}

func (i inspects) InspectContainer(ctx context.Context, id string) (dockertools.Inspected, error) {
	i.trace.Add(trace.Event{Kind: "inspect"})
	return i.Interface.InspectContainer(ctx, id)
}

// Comparisons returns for each pod, by full name, what is desired, what the last sync saw and what is to be done.
func (kl *Kubelet) Comparisons() map[string][]trace.Row {
	rows := map[string][]trace.Row{}
	if s := kl.snapshot.Load(); s != nil {
		for i := range s.pods {
			rows[s.pods[i].name], _ = s.pods[i].compare(kl)
		}
	}
	return rows
}
