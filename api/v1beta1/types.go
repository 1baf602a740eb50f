package v1beta1

import "kubelet14/api"

// ContainerManifest is the desired state of a pod.
type ContainerManifest struct {
	Version       string            `json:"version"` // required: v1beta1 or v1beta2, in any case
	ID            string            `json:"id,omitempty"`
	UUID          string            `json:"uuid,omitempty"`
	Volumes       []api.Volume      `json:"volumes,omitempty"`
	Containers    []Container       `json:"containers"` // required; [] or null: a pod of a network container alone
	RestartPolicy api.RestartPolicy `json:"restartPolicy,omitzero"`
}

// VolumeMount puts one of the pod's volumes into a container.
type VolumeMount struct {
	Name      string `json:"name"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
	MountPath string `json:"mountPath,omitempty"`
	Path      string `json:"path,omitempty"`      // v1beta1: old name of mountPath
	MountType string `json:"mountType,omitempty"` // v1beta1: HOST or LOCAL
}

// EnvVar is one environment variable.
type EnvVar struct {
	Name  string `json:"name"`
	Key   string `json:"key,omitempty"` // v1beta1: old name of name
	Value string `json:"value,omitempty"`
}

// Container is one program of a pod.
type Container struct {
	Name                   string             `json:"name"`
	Image                  string             `json:"image"`
	Command                []string           `json:"command,omitempty"`
	WorkingDir             string             `json:"workingDir,omitempty"`
	Ports                  []api.Port         `json:"ports,omitempty"`
	Env                    []EnvVar           `json:"env,omitempty"`
	Memory                 int64              `json:"memory,omitempty"` // bytes
	CPU                    int64              `json:"cpu,omitempty"`    // thousandths of a core
	VolumeMounts           []VolumeMount      `json:"volumeMounts,omitempty"`
	LivenessProbe          *api.LivenessProbe `json:"livenessProbe,omitempty"`
	Lifecycle              *api.Lifecycle     `json:"lifecycle,omitempty"`
	TerminationMessagePath string             `json:"terminationMessagePath,omitempty"`
	Privileged             bool               `json:"privileged,omitempty"`
	ImagePullPolicy        api.PullPolicy     `json:"imagePullPolicy"` // in any case; always written, as in 2014
}
