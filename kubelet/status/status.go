package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// Now is what has happened since the sync.
type Now struct {
	Doing        map[string]plan.Problem                                                         // what the worker is doing, by container name
	PullProgress func(image string) string                                                       // empty if it is not being pulled
	ProbeResult  func(*plan.Observed, *api.Container) (unhealthy, notReady string, started bool) // see probes.Probers.Result
	Stale        func(pod *plan.Pod, c *api.Container, used string) string                       // see configmaps.Store.Stale
}

// view is a pod at this moment.
type view struct {
	*Pod
	Now
}

// Of returns the status of a pod, without the error of its source.
func Of(pod *Pod, now Now) api.PodStatus {
	s := &view{pod, now}
	name, namespace, source := api.SplitFullName(s.Name)
	status := api.PodStatus{
		Name: name, Namespace: namespace, Source: source, Origin: s.Origin,
		Phase: s.phase(), Ready: s.Desired != nil, PodIP: PodIP(s.Observed),
	}
	problem := s.problem("")
	status.Reason, status.Message = problem.Reason, problem.Message
	if s.isStopped() && problem.Message == "" {
		status.Message = s.Desired.Stopped
	}
	var wanted []plan.Container
	if s.Desired != nil {
		status.UID, status.Ports, status.Volumes = s.Desired.UID, s.Desired.Ports, s.Desired.Complete.Volumes
		wanted = s.Desired.Containers()
	} else {
		status.Reason = cmp.Or(s.Wait.Reason, api.ReasonRemoved)
		status.Message = cmp.Or(s.Wait.Message, "it is no longer wanted; its containers are being removed")
	}
	for i := range s.Observed { // which are ordered by name
		c := &s.Observed[i]
		unwanted := s.Desired == nil || s.Desired.Container(c.Of.Name) == nil && c.State.Live()
		if newest, _ := s.newest(c.Of.Name); newest == c && unwanted {
			status.UID = cmp.Or(status.UID, c.Of.UID)
			wanted = append(wanted, plan.Container{Name: c.Of.Name})
		}
	}
	serving := true // but for containers that are starting
	for _, want := range wanted {
		c := s.container(&want)
		if want.Name == api.NetworkContainerName {
			c.PodIP = status.PodIP
		}
		status.Containers = append(status.Containers, c)
		succeeded := c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 && !s.Plan.Finished
		ready := c.Ready || succeeded || s.Desired != nil && s.Desired.IsInit(c.Name)
		status.Ready = status.Ready && ready
		serving = serving && (ready || isStarting(&want, &c))
	}
	status.Starting = s.Desired != nil && serving && !status.Ready
	return status
}

// startPatience is how long a container may take to be ready for the first time, after the initial delay of its probes.
const startPatience = 30 * time.Second

// isStarting reports whether a container runs for the first time, and need not be ready yet.
func isStarting(want *plan.Container, c *api.ContainerStatus) bool {
	if want.Spec == nil || c.State.Running == nil || c.RestartCount > 0 {
		return false
	}
	patience := startPatience
	for _, probe := range []*api.Probe{want.Spec.StartupProbe, want.Spec.ReadinessProbe} {
		if probe != nil {
			patience = max(patience, startPatience+time.Duration(probe.InitialDelaySeconds)*time.Second)
		}
	}
	return time.Since(c.State.Running.StartedAt) < patience
}

// phase returns the state of the pod as one word. A container that has crashed for the first time is started again at
// once: its pod is pending for that moment, and failing from the second crash in a row on.
func (s *view) phase() api.PodPhase {
	problems, step := s.Faults(), s.Wait.Reason == api.ReasonWaitsForStep
	switch {
	case s.Desired == nil && !s.Waits():
		return api.PodRemoving
	case s.Plan.Finished && !s.isStopped() && (step || !s.Waits()):
		if slices.ContainsFunc(s.Plan.Problems, func(p plan.Problem) bool { return p.Reason == api.ReasonDeadline }) {
			return api.PodFailed
		}
		for _, c := range s.Desired.InitAndApps() {
			if newest, _ := s.newest(c.Name); newest != nil && newest.Failed() && !c.IsSidecar() {
				return api.PodFailed
			}
		}
		return api.PodSucceeded
	case step && s.serves(): // whatever its plan is
		return api.PodRunning
	case step, s.Desired == nil && s.Wait.Reason == api.ReasonSourceNotReady: // nobody knows whether it is wanted
		return api.PodPending
	case s.isStopped() && !s.Waits() && len(problems) == 0:
		if s.IsLive() {
			return api.PodPending
		}
		return api.PodStopped
	case slices.ContainsFunc(problems, func(p plan.Problem) bool { return p.Reason != api.ReasonPulling }):
		return api.PodFailing
	}
	unsettled := slices.ContainsFunc(s.Plan.Actions(), func(a plan.Action) bool { return a.Kind != plan.Remove })
	phase := api.PodRunning
	if unsettled || s.Plan.Init != "" || len(problems) > 0 {
		phase = api.PodPending
	}
	for _, want := range s.Desired.Containers() {
		newest, _ := s.newest(want.Name)
		switch {
		case newest == nil && s.Desired.IsInit(want.Name): // somebody has removed it
		case newest == nil:
			phase = api.PodPending
		case unsettled && newest.Of.Hash != want.Hash: // it is being replaced
		case newest.Unhealthy != "", newest.State == dockertools.StatePaused:
			return api.PodFailing
		case s.Doing[want.Name].Message != "":
			phase = api.PodPending
		}
	}
	return phase
}

// serves reports whether each container of the manifest, of whatever version, runs without a problem or is done.
func (s *Pod) serves() bool {
	return s.Desired != nil && s.Plan.Init == "" && !slices.ContainsFunc(s.Desired.InitAndApps(), func(want plan.Container) bool {
		return !s.Desired.IsInit(want.Name) && !slices.ContainsFunc(s.Observed, func(c plan.Observed) bool {
			return c.Of.Name == want.Name && (c.State == dockertools.StateRunning && c.Unhealthy == "" || s.Desired.Done(&want, &c))
		})
	})
}

// newest returns the attempt of a container that counts, and the one before it; nil if there is none.
// A pod that waits for another one keeps its containers, maybe with another UID than it is to get.
func (s *Pod) newest(container string) (newest, before *plan.Observed) {
	anyUID := s.Desired == nil || s.Waits()
	for i := range s.Observed {
		c := &s.Observed[i]
		if c.Of.Name == container && c.State != dockertools.StateRemoving && (anyUID || c.Of.UID == s.Desired.UID) {
			newest, before = c, newest
		}
	}
	return newest, before
}

// problem returns the first problem of a container, or of the pod for "".
func (s *Pod) problem(container string) (none plan.Problem) {
	for _, problem := range s.Problems() {
		if problem.Container == container {
			return problem
		}
	}
	return none
}

// container returns the status of a container.
func (s *view) container(want *plan.Container) api.ContainerStatus {
	status := api.ContainerStatus{Name: want.Name}
	if want.Spec != nil {
		status.Image = want.Spec.Image
	}
	newest, before := s.newest(want.Name)
	if newest != nil {
		status.RestartCount = newest.Restarts
		status.Image = cmp.Or(status.Image, newest.Image)
		status.ImageID, status.ContainerID = newest.ImageID, newest.ID
	}
	switch {
	case newest != nil && newest.State.Live():
		_, notReady, _ := s.ProbeResult(newest, want.Spec)
		if newest.Of.Hash != want.Hash { // an edit has not replaced it yet
			status.Image = newest.Image
		}
		status.Ready = newest.State == dockertools.StateRunning && notReady == ""
		running := &api.ContainerStateRunning{StartedAt: newest.StartedAt, Reason: s.problem(want.Name).Reason, Message: cmp.Or(s.runningMessage(want, newest), notReady)}
		if newest.Unhealthy != "" {
			running.Reason = api.ReasonUnhealthy
		}
		status.State.Running = running
	case newest != nil && newest.Terminated() && (s.Desired == nil || want.Spec != nil && s.isDone(want, newest)):
		status.State.Terminated = terminated(newest)
		if problem := s.problem(want.Name); problem.Reason == api.ReasonNeverRestarted || problem.Reason == api.ReasonRestartPolicy {
			status.State.Terminated.Message = strings.TrimPrefix(status.State.Terminated.Message+"; "+problem.Message, "; ")
		}
		return status
	case want.Spec == nil && s.Plan.Finished && !s.isStopped(), s.hasDoneInit(want): // and was removed
		status.State.Terminated = &api.ContainerStateTerminated{Reason: api.ReasonCompleted}
		return status
	default:
		waiting := s.waiting(want)
		if newest != nil && newest.Terminated() {
			before = newest
			if waiting.Reason == api.ReasonBackOff && !newest.State.Ended() {
				waiting.Reason = newest.Exit().Reason // why it could not be started tells more
			}
		}
		status.State.Waiting = waiting
	}
	if before != nil && before.Terminated() {
		status.Last = terminated(before)
		// A replacement is created before the container it replaces is stopped, and after one that ended by itself.
		if before != newest && before.Killed.Reason == "" && before.FinishedAt.After(newest.CreatedAt) {
			status.Last.Reason = api.ReasonStopped
		}
	}
	return status
}

// isDone reports whether a container never runs again, given its newest attempt. It is done with its pod.
func (s *Pod) isDone(want *plan.Container, newest *plan.Observed) bool {
	return s.Desired.Done(want, newest) || s.Plan.Finished && !s.isStopped()
}

// hasDoneInit reports whether a container is an init container whose work is done, although
// somebody may have removed it: no init container has to run, and an app has started.
func (s *Pod) hasDoneInit(want *plan.Container) bool {
	if s.Desired == nil || s.Plan.Init != "" || !s.Desired.IsInit(want.Name) {
		return false
	}
	return slices.ContainsFunc(s.Observed, func(c plan.Observed) bool {
		return !c.IsNetwork() && !s.Desired.IsInit(c.Of.Name) && c.Of.UID == s.Desired.UID && c.HasStarted()
	})
}

// runningMessage returns what is not as desired with a container that runs.
func (s *view) runningMessage(want *plan.Container, c *plan.Observed) string {
	problem, doing := s.problem(want.Name), s.Doing[want.Name]
	switch {
	case doing.Message != "":
		return strings.TrimPrefix(c.Unhealthy+"; "+doing.Reason+": "+doing.Message, "; ")
	case c.Unhealthy != "":
		return c.Unhealthy
	case problem.Message != "" && problem.Reason != api.ReasonNeverRestarted && want.Spec != nil && c.Of.Hash != want.Hash:
		return fmt.Sprintf("runs as before its edit to image %s: %s", want.Spec.Image, s.message(want, problem))
	case problem.Message != "":
		return s.message(want, problem)
	case c.State == dockertools.StatePaused:
		return "it is paused; docker unpause lets it run again"
	case want.Name == s.Plan.Init && want.IsSidecar():
		return "the other containers wait until its startup probe has succeeded"
	case want.Name == s.Plan.Init:
		return "the other containers wait until it has succeeded"
	case s.Desired != nil && len(s.Plan.Steps) == 0 && c.Labels[dockertools.LabelServices] != want.Services:
		return "the services of its namespace have changed: it gets their names and variables when it is created anew"
	case s.Desired != nil && len(s.Plan.Steps) == 0 && want.Spec != nil:
		return s.Stale(s.Desired, want.Spec, c.Labels[dockertools.LabelConfig])
	}
	for _, a := range s.Plan.Actions() {
		if a.Kind == plan.Stop && a.Name.Name == want.Name && len(s.Problems()) == 0 {
			return api.ReasonStopping + ": " + a.Reason
		}
	}
	return ""
}

// waiting returns what a container that does not run waits for. A problem of the network container is told there.
func (s *view) waiting(want *plan.Container) *api.ContainerStateWaiting {
	problem, network := cmp.Or(s.problem(want.Name), s.problem(""), s.Doing[want.Name]), s.problem(api.NetworkContainerName)
	switch {
	case problem.Message != "":
		return &api.ContainerStateWaiting{Reason: problem.Reason, Message: s.message(want, problem), Next: problem.RetryAt}
	case s.isStopped():
		return &api.ContainerStateWaiting{Reason: api.ReasonStopped, Message: s.Desired.Stopped}
	case network.Message != "" && network.Reason != api.ReasonNeverRestarted:
		return &api.ContainerStateWaiting{Reason: api.ReasonNetworkContainer, Message: "waits for the network container", Next: network.RetryAt}
	case s.Plan.Finished: // although this one has not run
		return &api.ContainerStateWaiting{Reason: api.ReasonInitContainer, Message: "an init container has failed"}
	case s.Plan.Init != "" && s.Plan.Init != want.Name && want.Spec != nil: // not the network container
		return &api.ContainerStateWaiting{Reason: api.ReasonInitContainer, Message: fmt.Sprintf("waits for init container %q", s.Plan.Init)}
	}
	return &api.ContainerStateWaiting{Reason: api.ReasonCreating}
}

// message returns the message of a problem, or the progress of the pull that it waits for.
func (s *view) message(want *plan.Container, problem plan.Problem) string {
	if problem.Reason == api.ReasonPulling && want.Spec != nil {
		return cmp.Or(s.PullProgress(want.Spec.Image), problem.Message)
	}
	if want.Spec == nil && s.Failures > 1 {
		return fmt.Sprintf("%s; tried %d times", problem.Message, s.Failures)
	}
	return problem.Message
}

// terminated returns how a terminated container ended.
func terminated(c *plan.Observed) *api.ContainerStateTerminated {
	return &api.ContainerStateTerminated{
		ExitCode:   c.ExitCode,
		Reason:     c.Exit().Reason,
		Message:    cmp.Or(c.Killed.Message, dockertools.TrimLayers(c.Error), c.TerminationMessage),
		StartedAt:  c.StartedAt,
		FinishedAt: c.FinishedAt,
	}
}

// PodIP returns the address of a pod: that of its running network container.
func PodIP(containers []plan.Observed) (ip string) {
	for i := range containers {
		if c := &containers[i]; c.IsNetwork() && c.State.Live() {
			ip = c.IP
		}
	}
	return ip
}
