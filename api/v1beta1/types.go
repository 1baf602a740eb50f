package v1beta1

import "kubelet14/api"

// ContainerManifest is the desired state of a pod.
type ContainerManifest struct {
	Version       string            `json:"version"` // required: v1beta1 or v1beta2, in upper or lower case
	ID            string            `json:"id,omitempty"`
	UUID          string            `json:"uuid,omitempty"`
	Volumes       []Volume          `json:"volumes,omitempty"`
	Containers    []Container       `json:"containers"` // required; [] or null: a pod with only a network container
	RestartPolicy api.RestartPolicy `json:"restartPolicy,omitzero"`

	_ api.Ignored     `fields:"dnsPolicy" why:"Docker's DNS is used"`
	_ api.Unsupported `fields:"annotations dnsConfig hostAliases hostNetwork hostname initContainers labels namespace" instead:"a v1 Pod can have it"`
}

// ContainerManifestList is a list of manifests. The codec of 2014 wrote no items if there were none.
type ContainerManifestList struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Items      []any  `json:"items,omitempty"`

	_ api.Ignored `fields:"creationTimestamp id resourceVersion selfLink uid"`
}

// Volume is a directory that the containers of a pod may mount by name.
type Volume struct {
	Name   string        `json:"name"`
	Source *VolumeSource `json:"source,omitempty"`
}

// VolumeSource says where a volume comes from.
type VolumeSource struct {
	HostDir  *HostDir      `json:"hostDir,omitempty"`
	EmptyDir *api.EmptyDir `json:"emptyDir,omitempty"`

	_ api.Unsupported `fields:"gitRepo persistentDisk" instead:"use a directory of the host, with hostDir"`
	_ api.Unsupported `fields:"hostPath" instead:"2014 called it hostDir"`
}

// HostDir is a directory of the host.
type HostDir struct {
	Path string `json:"path"`
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
	Name  string   `json:"name"`
	Key   string   `json:"key,omitempty"` // v1beta1: old name of name
	Value api.Text `json:"value,omitempty"`
}

// Container is one program of a pod.
type Container struct {
	Name                   string         `json:"name"`
	Image                  string         `json:"image"`
	Command                []api.Text     `json:"command,omitempty"`
	WorkingDir             string         `json:"workingDir,omitempty"`
	Ports                  []api.Port     `json:"ports,omitempty"`
	Env                    []EnvVar       `json:"env,omitempty"`
	Memory                 int64          `json:"memory,omitempty"` // bytes
	CPU                    int64          `json:"cpu,omitempty"`    // thousandths of a core
	VolumeMounts           []VolumeMount  `json:"volumeMounts,omitempty"`
	LivenessProbe          *LivenessProbe `json:"livenessProbe,omitempty"`
	Lifecycle              *Lifecycle     `json:"lifecycle,omitempty"`
	TerminationMessagePath string         `json:"terminationMessagePath,omitempty"`
	Privileged             bool           `json:"privileged,omitempty"`
	ImagePullPolicy        api.PullPolicy `json:"imagePullPolicy"` // in upper or lower case; always written, as in 2014

	_ api.Unsupported `fields:"args cmd" instead:"write them in command, which follows the image's entrypoint"`
	_ api.Unsupported `fields:"entrypoint" instead:"it is the image's; a v1 Pod can replace it"`
	_ api.Unsupported `fields:"readinessProbe startupProbe securityContext" instead:"a v1 Pod can have it"`
	_ api.Unsupported `fields:"resources" instead:"2014 has memory in bytes and cpu in thousandths of a core beside the name"`
}

// LivenessProbe tests whether a container still works.
type LivenessProbe struct {
	HTTPGet             *HTTPGetAction       `json:"httpGet,omitempty"`
	TCPSocket           *api.TCPSocketAction `json:"tcpSocket,omitempty"`
	Exec                *ExecAction          `json:"exec,omitempty"`
	InitialDelaySeconds int64                `json:"initialDelaySeconds,omitempty"`
	Type                string               `json:"type,omitempty"`    // old: http, tcp or exec, the action that is set
	Enabled             *bool                `json:"enabled,omitempty"` // old: false means no probe
}

// ExecAction runs a command in the container.
type ExecAction struct {
	Command []api.Text `json:"command,omitempty"`
}

// HTTPGetAction requests http://host:port/path.
type HTTPGetAction struct {
	Path string          `json:"path,omitempty"`
	Port api.IntOrString `json:"port,omitzero"`
	Host string          `json:"host,omitempty"`
}

// Lifecycle holds the hooks of a container.
type Lifecycle struct {
	PostStart *Handler `json:"postStart,omitempty"`
	PreStop   *Handler `json:"preStop,omitempty"`
}

// Handler is the action of a hook.
type Handler struct {
	Exec    *ExecAction    `json:"exec,omitempty"`
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`
}
