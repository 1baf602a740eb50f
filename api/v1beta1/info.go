package v1beta1

import (
	"time"

	"kubelet14/api"
)

// BoundPods are the pods that a kubelet is to run. They are written and never read.
type BoundPods struct {
	Kind              string     `json:"kind"`
	CreationTimestamp *time.Time `json:"creationTimestamp"` // null, as in 2014: nothing says when
	APIVersion        string     `json:"apiVersion"`
	Host              string     `json:"host"` // empty, as in 2014: it is the one that was asked
	Items             []BoundPod `json:"items"`
}

// BoundPod is a manifest and the identity it has on its host.
type BoundPod struct {
	ID                string            `json:"id"`
	UID               string            `json:"uid"`
	CreationTimestamp *time.Time        `json:"creationTimestamp"` // null
	Namespace         string            `json:"namespace"`
	Annotations       map[string]string `json:"annotations"`
	Spec              PodSpec           `json:"spec"`
}

// SourceAnnotation tells which source a BoundPod comes from.
const SourceAnnotation = "kubernetes/config.source"

// PodSpec is what a manifest wants, without the identity.
type PodSpec struct {
	Volumes       []Volume          `json:"volumes"`
	Containers    []Container       `json:"containers"`
	RestartPolicy api.RestartPolicy `json:"restartPolicy"`
}

// PodInfo says of each container of a pod, by its name, what has become of it.
type PodInfo map[string]ContainerStatus

// ContainerStatus is what 2014 told of a container, and no more than that.
type ContainerStatus struct {
	State        ContainerState `json:"state"`
	RestartCount int            `json:"restartCount"`
	PodIP        string         `json:"podIP,omitempty"` // of the network container alone
	Image        string         `json:"image"`
}

// ContainerState has exactly one field set.
type ContainerState struct {
	Waiting    *ContainerStateWaiting    `json:"waiting,omitempty"`
	Running    *ContainerStateRunning    `json:"running,omitempty"`
	Terminated *ContainerStateTerminated `json:"termination,omitempty"`
}

// ContainerStateWaiting is a container that is to run and does not.
type ContainerStateWaiting struct {
	Reason string `json:"reason,omitempty"`
}

// ContainerStateRunning is a container that runs.
type ContainerStateRunning struct {
	StartedAt time.Time `json:"startedAt"`
}

// ContainerStateTerminated is a container that has ended.
type ContainerStateTerminated struct {
	ExitCode   int       `json:"exitCode"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
}

// registerInfo registers what is told of pods, and so only ever written.
func registerInfo(s *api.Scheme, version string) {
	api.AddExternalConversion(s, version, func(in *api.BoundPods, out *BoundPods) error {
		out.Kind, out.APIVersion = "BoundPods", version
		out.Items = make([]BoundPod, len(in.Items))
		for i := range in.Items {
			out.Items[i] = boundPod(&in.Items[i])
		}
		return nil
	})
	api.AddExternalConversion(s, version, func(in *api.PodInfo, out *PodInfo) error {
		*out = PodInfo{}
		for name, status := range *in {
			var told ContainerStatus
			api.Copy(&told, &status)
			(*out)[name] = told
		}
		return nil
	})
}

func boundPod(in *api.Pod) BoundPod {
	out := BoundPod{
		ID: in.Name, UID: in.UID, Namespace: in.Namespace,
		Annotations: map[string]string{SourceAnnotation: in.Source},
	}
	api.Copy(&out.Spec, &in.Manifest)
	if out.Spec.Containers == nil {
		out.Spec.Containers = []Container{}
	}
	// 2014 made a policy of none while it validated, and the rest of what was left open
	// only where it was used.
	if out.Spec.RestartPolicy == (api.RestartPolicy{}) {
		out.Spec.RestartPolicy.Always = &api.RestartPolicyAlways{}
	}
	return out
}
