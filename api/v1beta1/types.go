package v1beta1

import "kubelet14/api"

// ContainerManifest says which containers run together on one host.
type ContainerManifest struct {
	Version       string        `json:"version"` // required: v1beta1 or v1beta2, in any case
	ID            string        `json:"id,omitempty"`
	UUID          string        `json:"uuid,omitempty"`
	Volumes       []Volume      `json:"volumes,omitempty"`
	Containers    []Container   `json:"containers,omitempty"`
	RestartPolicy RestartPolicy `json:"restartPolicy,omitzero"`
}

// ContainerManifestList is several manifests in one object.
type ContainerManifestList struct {
	Kind       string              `json:"kind,omitempty"` // ContainerManifestList
	APIVersion string              `json:"apiVersion,omitempty"`
	Items      []ContainerManifest `json:"items"`
}

// Volume is a directory that the containers of a pod may mount by name.
type Volume struct {
	Name   string        `json:"name"`
	Source *VolumeSource `json:"source,omitempty"` // default: emptyDir
}

// VolumeSource says where a volume comes from: exactly one of its fields.
type VolumeSource struct {
	HostDir        *HostDir        `json:"hostDir,omitempty"`
	EmptyDir       *EmptyDir       `json:"emptyDir,omitempty"`
	PersistentDisk *PersistentDisk `json:"persistentDisk,omitempty"` // not supported
	GitRepo        *GitRepo        `json:"gitRepo,omitempty"`        // not supported
}

// HostDir is a directory of the host.
type HostDir struct {
	Path string `json:"path"`
}

// EmptyDir is a directory that lives as long as its pod.
type EmptyDir struct{}

// PersistentDisk was a disk of Google's cloud.
type PersistentDisk struct {
	PDName    string `json:"pdName"`
	FSType    string `json:"fsType,omitempty"`
	Partition int    `json:"partition,omitempty"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// GitRepo was a clone of a git repository.
type GitRepo struct {
	Repository string `json:"repository"`
	Revision   string `json:"revision,omitempty"`
}

// Port is a port of a container.
type Port struct {
	Name          string       `json:"name,omitempty"`
	HostPort      int          `json:"hostPort,omitempty"`
	ContainerPort int          `json:"containerPort"`
	Protocol      api.Protocol `json:"protocol,omitempty"` // TCP or UDP in any case; default TCP
	HostIP        string       `json:"hostIP,omitempty"`
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
	Name                   string         `json:"name"`
	Image                  string         `json:"image"`
	Command                []string       `json:"command,omitempty"`
	WorkingDir             string         `json:"workingDir,omitempty"`
	Ports                  []Port         `json:"ports,omitempty"`
	Env                    []EnvVar       `json:"env,omitempty"`
	Memory                 int64          `json:"memory,omitempty"` // bytes
	CPU                    int64          `json:"cpu,omitempty"`    // thousandths of a core
	VolumeMounts           []VolumeMount  `json:"volumeMounts,omitempty"`
	LivenessProbe          *LivenessProbe `json:"livenessProbe,omitempty"`
	Lifecycle              *Lifecycle     `json:"lifecycle,omitempty"`
	TerminationMessagePath string         `json:"terminationMessagePath,omitempty"`
	Privileged             bool           `json:"privileged,omitempty"`
	ImagePullPolicy        api.PullPolicy `json:"imagePullPolicy,omitempty"` // in any case
}

// LivenessProbe says how to find out whether a container still works: exactly
// one action.
type LivenessProbe struct {
	HTTPGet             *HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket           *TCPSocketAction `json:"tcpSocket,omitempty"`
	Exec                *ExecAction      `json:"exec,omitempty"`
	InitialDelaySeconds int64            `json:"initialDelaySeconds,omitempty"`
}

// HTTPGetAction asks http://host:port/path.
type HTTPGetAction struct {
	Path string          `json:"path,omitempty"`
	Port api.IntOrString `json:"port,omitzero"`
	Host string          `json:"host,omitempty"`
}

// TCPSocketAction opens a connection.
type TCPSocketAction struct {
	Port api.IntOrString `json:"port,omitzero"`
}

// ExecAction runs a command in the container.
type ExecAction struct {
	Command []string `json:"command,omitempty"`
}

// Lifecycle holds the hooks of a container.
type Lifecycle struct {
	PostStart *Handler `json:"postStart,omitempty"`
	PreStop   *Handler `json:"preStop,omitempty"`
}

// Handler is the action of a hook: exactly one of its fields.
type Handler struct {
	Exec    *ExecAction    `json:"exec,omitempty"`
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`
}

// RestartPolicy says what happens when a container ends: at most one of its
// fields; none means always.
type RestartPolicy struct {
	Always    *RestartPolicyAlways    `json:"always,omitempty"`
	OnFailure *RestartPolicyOnFailure `json:"onFailure,omitempty"`
	Never     *RestartPolicyNever     `json:"never,omitempty"`
}

type (
	// RestartPolicyAlways starts a container again whenever it ends.
	RestartPolicyAlways struct{}
	// RestartPolicyOnFailure starts a container again until it ends with 0.
	RestartPolicyOnFailure struct{}
	// RestartPolicyNever starts each container once.
	RestartPolicyNever struct{}
)
