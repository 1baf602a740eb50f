package kubelet

import (
	"cmp"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// podView is all that a pod's status is made of. What it says has no effects.
type podView struct {
	name, origin string
	want         *wantedPod // nil when the pod is not wanted
	seen         []seenContainer
	plan         podPlan
	blocked      trouble
	troubles     func() []trouble // of the last piece of work
	progress     func(image string) string
}

func (v *podView) status() api.PodStatus {
	name, namespace, source, _ := api.SplitFullName(v.name)
	s := api.PodStatus{
		Name: name, Namespace: namespace, Source: source, Origin: v.origin, PodIP: podIP(v.seen), Phase: v.phase(),
		Reason: v.blocked.reason, Message: v.blocked.message,
	}
	if v.want == nil {
		s.Reason, s.Message = api.ReasonRemoved, "it is no longer wanted, and its containers are removed"
		for i := range v.seen {
			c := &v.seen[i]
			s.UID = c.Of.UID
			if c == newestOf(v.seen, c.Of.UID, c.Of.Name) {
				s.Containers = append(s.Containers, v.container(&wantedContainer{name: c.Of.Name}))
			}
		}
		return s
	}
	s.UID = v.want.UID
	for i := range v.want.apps {
		s.Containers = append(s.Containers, v.container(&v.want.apps[i]))
	}
	if t := v.trouble(""); t != nil && s.Reason == "" {
		s.Reason, s.Message = t.reason, t.message
	}
	net := v.container(&v.want.net)
	net.PodIP = s.PodIP
	s.Containers = append(s.Containers, net)
	return s
}

// uid is that of the containers that are told of. A pod that must wait runs as it was,
// and that may be under another uuid.
func (v *podView) uid() string {
	for i := range v.seen {
		if c := &v.seen[i]; v.blocked.message != "" && c.isNetwork() && c.State.Live() {
			return c.Of.UID
		}
	}
	return v.want.UID
}

// phase says how far the pod has come.
func (v *podView) phase() api.PodPhase {
	if v.want == nil {
		return api.PodRunning
	}
	succeeded := true
	for i := range v.want.apps {
		c := newestOf(v.seen, v.uid(), v.want.apps[i].name)
		if c == nil || !v.hasRun(c.Of.Name) {
			return api.PodPending
		}
		succeeded = succeeded && !c.failed()
	}
	switch {
	case v.plan.finished && succeeded:
		return api.PodSucceeded
	case v.plan.finished:
		return api.PodFailed
	case len(v.want.apps) == 0 && podIP(v.seen) == "":
		return api.PodPending
	}
	return api.PodRunning
}

// hasRun says that Docker knows of an attempt of the container that had a process.
func (v *podView) hasRun(container string) bool {
	return slices.ContainsFunc(v.seen, func(c seenContainer) bool {
		return c.Of.UID == v.uid() && c.Of.Name == container && c.ran()
	})
}

// trouble is what keeps a container from being as it should, or nil. What the last
// work ran into comes before what the plan says now; "" is the pod as a whole.
func (v *podView) trouble(container string) *trouble {
	for _, troubles := range [][]trouble{v.troubles(), v.plan.notRunning} {
		for i := range troubles {
			if troubles[i].container == container {
				return &troubles[i]
			}
		}
	}
	return nil
}

func (v *podView) container(want *wantedContainer) api.ContainerStatus {
	s := api.ContainerStatus{Name: want.name}
	if want.spec != nil {
		s.Image = want.spec.Image
	}
	var newest, before *seenContainer
	for i := range v.seen {
		if c := &v.seen[i]; c.Of.Name == want.name && (v.want == nil || c.Of.UID == v.uid()) {
			newest, before = c, newest
		}
	}
	if newest != nil {
		s.RestartCount = newest.Of.Attempt - 1
		s.Image = cmp.Or(s.Image, newest.Image)
		s.ImageID = newest.ImageID
	}
	switch {
	case newest != nil && newest.State.Live():
		s.State.Running = &api.ContainerStateRunning{StartedAt: newest.StartedAt, Message: v.complaint(want, newest)}
	case newest != nil && newest.dead() && (v.want == nil || want.spec != nil && v.want.ranForTheLastTime(want, newest)):
		s.State.Terminated = newest.terminated()
		return s
	case want.spec == nil && v.plan.finished: // the network container of a pod that is done
		s.State.Terminated = &api.ContainerStateTerminated{Reason: api.ReasonCompleted}
		return s
	default:
		s.State.Waiting = v.waiting(want)
		if w := s.State.Waiting; w.Message == "" && before != nil && before.State.Live() {
			w.Message = "the attempt before it is being stopped"
		}
		if newest != nil && newest.dead() {
			before = newest
			if w := s.State.Waiting; w.Reason == api.ReasonBackOff && !newest.State.Ended() {
				w.Reason = newest.endReason() // which says more than that it waits
			}
		}
	}
	if before != nil && before.dead() {
		s.Last = before.terminated()
	}
	return s
}

// complaint says what is not right with a container that runs.
func (v *podView) complaint(want *wantedContainer, c *seenContainer) string {
	switch t := v.trouble(want.name); {
	case c.Unhealthy != "":
		return c.Unhealthy
	case t != nil:
		return cmp.Or(v.pulling(want, t), t.message)
	case c.Of.AwaitsHook:
		return "its postStart hook has not succeeded yet"
	case c.State == dockertools.StatePaused:
		return "it is paused; docker unpause lets it go on"
	}
	return ""
}

// waiting says what a container that does not run waits for.
func (v *podView) waiting(want *wantedContainer) *api.ContainerStateWaiting {
	t := v.trouble(want.name)
	if net := v.trouble(api.NetworkContainerName); t == nil && net != nil {
		return &api.ContainerStateWaiting{Reason: api.ReasonNetworkContainer, Message: "the pod's network container: " + net.message, Next: net.next}
	}
	if t == nil && v.blocked.message != "" {
		t = &v.blocked
	}
	if t == nil {
		return &api.ContainerStateWaiting{Reason: api.ReasonCreating}
	}
	return &api.ContainerStateWaiting{Reason: t.reason, Message: cmp.Or(v.pulling(want, t), t.message), Next: t.next}
}

// pulling says how far the pull is that a container waits for.
func (v *podView) pulling(want *wantedContainer, t *trouble) string {
	if t.reason != api.ReasonPulling || want.spec == nil {
		return ""
	}
	return v.progress(want.spec.Image)
}

// terminated is how a dead container ended.
func (c *seenContainer) terminated() *api.ContainerStateTerminated {
	return &api.ContainerStateTerminated{
		ExitCode:   c.ExitCode,
		Reason:     c.endReason(),
		Message:    cmp.Or(c.Killed.message, plainWords(c.Error), c.LastWords),
		StartedAt:  c.StartedAt,
		FinishedAt: c.FinishedAt,
	}
}
