package api

import (
	"fmt"
	"slices"
	"time"
)

// PodPhase is the state of a pod as one word.
type PodPhase string

// The phases of a pod.
const (
	PodPending   PodPhase = "pending"   // not as desired yet, and nothing is wrong: an image is pulled, a container is created, its source is being read
	PodRunning   PodPhase = "running"   // up: every container runs, or has completed as its policy allows, and nothing is wrong
	PodFailing   PodPhase = "failing"   // something is wrong: a container crashes, cannot start or is unhealthy, or the pod has to wait
	PodSucceeded PodPhase = "succeeded" // all have ended for good, with exit code 0
	PodFailed    PodPhase = "failed"    // all have ended for good, some with another exit code
	PodStopped   PodPhase = "stopped"   // somebody has stopped it, and it stays so
	PodRemoving  PodPhase = "removing"  // no longer wanted
)

// PodStatus is the observed state of a pod.
type PodStatus struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	UID         string            `json:"uid"`
	Source      string            `json:"source"`
	Origin      string            `json:"origin"` // place in the source
	Phase       PodPhase          `json:"phase"`
	Ready       bool              `json:"ready"`              // each container is, or has succeeded
	Starting    bool              `json:"starting,omitempty"` // it is not ready, and need not be yet
	PodIP       string            `json:"podIP,omitempty"`
	Ports       []Port            `json:"ports,omitempty"`       // of the host
	Volumes     []Volume          `json:"volumes,omitempty"`     // as its manifest has them
	Reason      string            `json:"reason,omitempty"`      // why the pod as a whole waits, such as PortTaken
	Message     string            `json:"message,omitempty"`     // of the reason
	SourceError string            `json:"sourceError,omitempty"` // why its manifest cannot be read: the pod may be older
	Containers  []ContainerStatus `json:"containers"`            // in the order of the manifest, then the network container, then those that still run and are in no manifest
}

// Up reports whether there is nothing to wait for and nothing to repair. A pod that is stopped or being removed counts as up.
func (s *PodStatus) Up() bool {
	return s.Phase == PodRunning || s.Phase == PodSucceeded || s.Phase == PodStopped || s.Phase == PodRemoving
}

// NotReady reports whether a pod is up, and is to serve and does not. While its plan waits for a person, its older containers serve.
func (s PodStatus) NotReady() bool {
	return s.Phase == PodRunning && !s.Ready && s.Reason != ReasonWaitsForStep
}

// Well reports whether a pod is up, and ready or starting if it is to serve.
func (s *PodStatus) Well() bool { return s.Up() && (!s.NotReady() || s.Starting) }

// ShortReason returns why the pod is not up, or not ready: a Reason constant or, if none says what is wrong, its phase.
func (s *PodStatus) ShortReason() string {
	reasons := []string{s.Reason}
	for _, c := range s.Containers {
		switch state := c.State; {
		case state.Waiting != nil:
			reasons = append(reasons, state.Waiting.Reason)
		case state.Running != nil:
			reasons = append(reasons, state.Running.Reason)
		case state.Terminated != nil && state.Terminated.ExitCode != 0:
			reasons = append(reasons, state.Terminated.Reason)
		}
	}
	for _, reason := range reasons {
		if reason != "" && !slices.Contains(Waits, reason) {
			return reason
		}
	}
	if s.NotReady() {
		return ReasonNotReady
	}
	return string(s.Phase)
}

// ContainerStatus is the observed state of a container. Its JSON is that of 2014 with more fields.
type ContainerStatus struct {
	Name         string                    `json:"name"`
	State        ContainerState            `json:"state"`
	Last         *ContainerStateTerminated `json:"last,omitempty"` // of the attempt before, if Docker still has it
	RestartCount int                       `json:"restartCount"`   // of this version of the container: an edit begins at 0
	PodIP        string                    `json:"podIP,omitempty"`
	Image        string                    `json:"image"`
	ImageID      string                    `json:"imageID,omitempty"` // of the container
	ContainerID  string                    `json:"containerID,omitempty"`
	Ready        bool                      `json:"ready"` // it runs, and its startup and readiness probes have succeeded
}

// ContainerState has exactly one field set.
type ContainerState struct {
	Waiting    *ContainerStateWaiting    `json:"waiting,omitempty"`
	Running    *ContainerStateRunning    `json:"running,omitempty"`
	Terminated *ContainerStateTerminated `json:"termination,omitempty"`
}

// ContainerStateWaiting is a container that should run and does not.
type ContainerStateWaiting struct {
	Reason  string    `json:"reason"` // one of the Reason constants
	Message string    `json:"message,omitempty"`
	Next    time.Time `json:"next,omitzero"` // the next try; zero: when something changes
}

// ContainerStateRunning is a container that runs.
type ContainerStateRunning struct {
	StartedAt time.Time `json:"startedAt"`
	Reason    string    `json:"reason,omitempty"`  // of the message, if it is not as desired
	Message   string    `json:"message,omitempty"` // a problem it has all the same
}

// ContainerStateTerminated is a container that has ended.
type ContainerStateTerminated struct {
	ExitCode   int       `json:"exitCode"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"` // its termination message, or the end of its log
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Why a container or a pod waits, or has ended.
const (
	ReasonCreating         = "Creating"
	ReasonPulling          = "Pulling"
	ReasonImageNotFound    = "ImageNotFound"
	ReasonUnauthorised     = "Unauthorised"
	ReasonPullFailed       = "PullFailed"
	ReasonImageNeverPulled = "ImageNeverPulled"
	ReasonBackOff          = "BackOff" // it ended soon after its start too often
	ReasonPortTaken        = "PortTaken"
	ReasonUUIDTaken        = "UUIDTaken"
	ReasonClaimShared      = "ClaimShared" // another pod can write above a part of a claim that it mounts
	ReasonHostDirMissing   = "HostDirMissing"
	ReasonCommandNotFound  = "CommandNotFound"
	ReasonConfig           = "CreateContainerConfigError" // a ConfigMap or Secret is missing, or its image may run as root
	ReasonCannotCreate     = "CannotCreate"
	ReasonCannotStart      = "CannotStart"
	ReasonNetworkContainer = "NetworkContainer" // it waits for the pod's network container
	ReasonDocker           = "Docker"           // Docker does not answer, or with an error
	ReasonInitContainer    = "InitContainer"    // it waits for an init container
	ReasonStopping         = "Stopping"         // it is being stopped: its preStop hook runs, or it has its stop signal
	ReasonPostStart        = "PostStart"        // its postStart hook runs
	ReasonNotReady         = "NotReady"         // its readiness probe has not succeeded, or a container has ended for good
	ReasonNeverRestarted   = "NeverRestarted"   // it is not as desired, and starts only once
	ReasonRestartPolicy    = "RestartPolicy"    // somebody has told Docker to start it again by itself
	ReasonRemoved          = "Removed"
	ReasonWaitsForStep     = "WaitsForStep"   // see package step
	ReasonSourceNotReady   = "SourceNotReady" // what its source has not read may still want it as it is
	ReasonNodePressure     = "NodePressure"   // it may not start, see package eviction
	ReasonEvicted          = "Evicted"        // it was stopped, and may not start yet

	ReasonDeadline   = "DeadlineExceeded"
	ReasonCompleted  = "Completed"
	ReasonError      = "Error"
	ReasonOOMKilled  = "OOMKilled"
	ReasonStopped    = "Stopped" // by the kubelet for a newer attempt, or with its pod by a person
	ReasonUnhealthy  = "Unhealthy"
	ReasonHookFailed = "HookFailed"
)

// Waits are the reasons of containers that wait, and nothing is wrong.
var Waits = []string{ReasonCreating, ReasonPulling, ReasonNetworkContainer, ReasonInitContainer, ReasonPostStart, ReasonStopping}

// Event is something that the kubelet did to a pod, or a problem of it.
type Event struct {
	Seq       uint64    `json:"seq"` // from 1, since the start of the kubelet
	Time      time.Time `json:"time"`
	Pod       string    `json:"pod"`       // full name
	Container string    `json:"container"` // empty: the pod as a whole
	Reason    string    `json:"reason"`    // what the kubelet did, in lower case such as created, or a Reason constant
	Message   string    `json:"message,omitempty"`
}

// BoundPods are the pods that a kubelet has to run.
type BoundPods struct{ Items []Pod }

// PodInfo is the status of each container of a pod, by the container's name.
type PodInfo map[string]ContainerStatus

// SourceStatus is the status of one source of pods.
type SourceStatus struct {
	Source       string    `json:"source"`                // "file", "http" or "etcd"
	Place        string    `json:"place"`                 // what it reads, without any password
	Pods         int       `json:"pods"`                  // how many it wants now
	LastSuccess  time.Time `json:"lastSuccess,omitzero"`  // when all of it was last read and good; zero: not since the start
	FailingSince time.Time `json:"failingSince,omitzero"` // zero if the last read was good
	LastError    string    `json:"lastError,omitempty"`   // the latest, also if it is fixed; one line for each problem
	LastErrorAt  time.Time `json:"lastErrorAt,omitzero"`  // when it was last seen

	Stale map[string]string `json:"-"` // why pods may be older than their manifests, by full name; never changed
}

// String returns one line, and below it the error while it lasts.
func (s SourceStatus) String() string {
	state := Count(s.Pods, "pod")
	lastRead := "no good read since the start"
	if !s.LastSuccess.IsZero() {
		lastRead = "last good read at " + s.LastSuccess.Format(time.TimeOnly)
	}
	if !s.FailingSince.IsZero() {
		state += fmt.Sprintf(", failing since %s, %s:\n%s", s.FailingSince.Format(time.TimeOnly), lastRead, s.LastError)
	} else if s.LastSuccess.IsZero() {
		state = "not read yet"
	}
	return fmt.Sprintf("source %s (%s): %s", s.Source, s.Place, state)
}

// NoPodsError says that a source wants no pods at all, although it has named several before
// or is new. A mount may be late or gone for a moment. So the source is read again, and nothing
// of it is removed before.
type NoPodsError struct {
	Source string
	Until  time.Time // when it is read again; zero: it has errors, and the wait begins when they are repaired
}

func (e *NoPodsError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("source %s wants no pods at all, and has errors: its containers stay until these are repaired", e.Source)
	}
	return fmt.Sprintf("source %s wants no pods at all; its containers are removed at %s unless the manifests come back",
		e.Source, e.Until.Format(time.TimeOnly))
}

// Count returns "1 pod" or "2 pods" for the noun "pod".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
