package v1beta1

import (
	"time"

	"kubelet14/api"
)

// BoundPods are the pods that a kubelet should run. Like PodInfo, it is written and never read.
type BoundPods struct {
	Kind              string     `json:"kind"`
	CreationTimestamp *time.Time `json:"creationTimestamp"` // null, as in 2014
	APIVersion        string     `json:"apiVersion"`
	Host              string     `json:"host"` // empty, as in 2014
	Items             []BoundPod `json:"items"`
}

// BoundPod is a manifest and its identity on the host.
type BoundPod struct {
	ID                string            `json:"id"`
	UID               string            `json:"uid"`
	CreationTimestamp *time.Time        `json:"creationTimestamp"` // null
	Namespace         string            `json:"namespace"`
	Annotations       map[string]string `json:"annotations"` // the source
	Spec              struct {
		Volumes       []Volume          `json:"volumes"`
		Containers    []Container       `json:"containers"`
		RestartPolicy api.RestartPolicy `json:"restartPolicy"`
	} `json:"spec"`
}

// PodInfo is the state of each container of a pod, by the container's name.
type PodInfo map[string]ContainerStatus

// ContainerStatus has the fields of api.ContainerStatus that existed in 2014.
type ContainerStatus struct {
	State struct {
		Waiting *struct {
			Reason string `json:"reason,omitempty"`
		} `json:"waiting,omitempty"`
		Running *struct {
			StartedAt time.Time `json:"startedAt"`
		} `json:"running,omitempty"`
		Terminated *struct {
			ExitCode   int       `json:"exitCode"`
			Reason     string    `json:"reason,omitempty"`
			Message    string    `json:"message,omitempty"`
			StartedAt  time.Time `json:"startedAt"`
			FinishedAt time.Time `json:"finishedAt"`
		} `json:"termination,omitempty"`
	} `json:"state"`
	RestartCount int    `json:"restartCount"`
	PodIP        string `json:"podIP,omitempty"` // only of the network container
	Image        string `json:"image"`
}

// addInfo registers the conversions for writing BoundPods and PodInfo.
func addInfo(s *api.Scheme, version string) {
	api.AddExternalConversion(s, version, func(in *api.BoundPods, out *BoundPods) {
		*out = BoundPods{Kind: "BoundPods", APIVersion: version, Items: make([]BoundPod, len(in.Items))}
		for i, pod := range in.Items {
			item := &out.Items[i]
			item.ID, item.UID, item.Namespace = pod.Name, pod.UID, pod.Namespace
			item.Annotations = map[string]string{"kubernetes/config.source": pod.Source}
			item.Spec.Containers = []Container{}
			api.Copy(&item.Spec, &pod.Manifest)
			// The only default that 2014 wrote.
			if item.Spec.RestartPolicy == (api.RestartPolicy{}) {
				item.Spec.RestartPolicy.Always = &api.RestartPolicyAlways{}
			}
		}
	})
	api.AddExternalConversion(s, version, func(in *api.PodInfo, out *PodInfo) {
		*out = PodInfo{}
		for name, status := range *in {
			var old ContainerStatus
			api.Copy(&old, &status)
			(*out)[name] = old
		}
	})
}
