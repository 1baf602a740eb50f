package api

import "time"

// PodPhase says how far a pod has come.
type PodPhase string

// The phases of a pod.
const (
	PodPending   PodPhase = "pending"   // a container has not run yet
	PodRunning   PodPhase = "running"   // all have run, and not all for the last time
	PodSucceeded PodPhase = "succeeded" // all have run for the last time, and ended with 0
	PodFailed    PodPhase = "failed"    // all have run for the last time, and not all ended with 0
)

// PodStatus is what has become of a pod: the answer to "why is it not running?".
type PodStatus struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	UID       string   `json:"uid"`
	Source    string   `json:"source"`
	Origin    string   `json:"origin"` // where in the source it was read
	Phase     PodPhase `json:"phase"`
	PodIP     string   `json:"podIP,omitempty"`
	// Reason and Message say what holds up the pod as a whole, such as a port of
	// the host that another pod has; empty when nothing does.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// SourceError is what could not be read of the pod's source the last time;
	// empty when all could. The pod may then be older than its manifest.
	SourceError string `json:"sourceError,omitempty"`
	// Containers are in the order of the manifest, the network container last.
	Containers []ContainerStatus `json:"containers"`
}

// ContainerStatus is what has become of a container of a pod. Its JSON is that of
// 2014, with what 2014 did not tell besides.
type ContainerStatus struct {
	Name         string                    `json:"name"`
	State        ContainerState            `json:"state"`
	Last         *ContainerStateTerminated `json:"last,omitempty"` // how it ended before, if it did and Docker still knows
	RestartCount int                       `json:"restartCount"`   // attempts before this one, those for an edit included
	PodIP        string                    `json:"podIP,omitempty"`
	Image        string                    `json:"image"`
	ImageID      string                    `json:"imageID,omitempty"` // of the container that is there
}

// ContainerState has exactly one field set.
type ContainerState struct {
	Waiting    *ContainerStateWaiting    `json:"waiting,omitempty"`
	Running    *ContainerStateRunning    `json:"running,omitempty"`
	Terminated *ContainerStateTerminated `json:"termination,omitempty"`
}

// ContainerStateWaiting is a container that is to run and does not.
type ContainerStateWaiting struct {
	Reason  string    `json:"reason"` // one of the Reason constants
	Message string    `json:"message,omitempty"`
	Next    time.Time `json:"next,omitzero"` // when it is tried again; zero: when something changes
}

// ContainerStateRunning is a container that runs.
type ContainerStateRunning struct {
	StartedAt time.Time `json:"startedAt"`
	Message   string    `json:"message,omitempty"` // what is not as wanted all the same
}

// ContainerStateTerminated is a container that has ended.
type ContainerStateTerminated struct {
	ExitCode   int       `json:"exitCode"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"` // its termination message, or the end of its log
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// Why a container or a pod waits, or ended.
const (
	ReasonCreating          = "Creating"
	ReasonPulling           = "Pulling"
	ReasonImageNotFound     = "ImageNotFound"
	ReasonUnauthorised      = "Unauthorised"
	ReasonPullFailed        = "PullFailed"
	ReasonImageNeverPulled  = "ImageNeverPulled"
	ReasonBackOff           = "BackOff" // it ended too quickly too often
	ReasonPortTaken         = "PortTaken"
	ReasonUUIDTaken         = "UUIDTaken"
	ReasonHostDirMissing    = "HostDirMissing"
	ReasonCommandNotFound   = "CommandNotFound"
	ReasonPrivilegedRefused = "PrivilegedRefused"
	ReasonCannotCreate      = "CannotCreate"
	ReasonCannotStart       = "CannotStart"
	ReasonNetworkContainer  = "NetworkContainer" // it waits for the pod's network container
	ReasonDocker            = "Docker"           // Docker does not answer, or not as it should
	ReasonRemoved           = "Removed"

	ReasonCompleted  = "Completed"
	ReasonError      = "Error"
	ReasonOOMKilled  = "OOMKilled"
	ReasonUnhealthy  = "Unhealthy"
	ReasonHookFailed = "HookFailed"
)

// Event is one thing that the kubelet did to a pod, or ran into.
type Event struct {
	Seq       uint64    `json:"seq"` // counts from 1, since the kubelet has begun
	Time      time.Time `json:"time"`
	Pod       string    `json:"pod"`       // full name
	Container string    `json:"container"` // empty: the pod as a whole
	// Reason is, in lower case, what the kubelet did, such as created or killing, or
	// one of the Reason constants: what it ran into.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}
