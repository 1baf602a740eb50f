package api

import (
	"encoding/json"
	"strconv"
)

// ContainerManifest is the desired state of a pod, which today is a pod's spec. This is the
// internal form: every wire version is converted to it.
//
// A container's hash is made of the JSON of these types, so every optional field is omitempty:
// a field that is added later changes no hash of today.
type ContainerManifest struct {
	Version       string        `json:"version"` // v1beta1 or v1beta2
	ID            string        `json:"id,omitempty"`
	UUID          string        `json:"uuid,omitempty"`
	Volumes       []Volume      `json:"volumes,omitempty"`
	Containers    []Container   `json:"containers,omitempty"` // empty: a pod of a network container alone
	RestartPolicy RestartPolicy `json:"restartPolicy,omitzero"`
}

// Volume is a directory that the containers of a pod may mount by name.
type Volume struct {
	Name   string        `json:"name"`             // DNS label, unique in the pod
	Source *VolumeSource `json:"source,omitempty"` // nil means EmptyDir
}

// VolumeSource is where a volume comes from. Exactly one field is set.
type VolumeSource struct {
	HostDir  *HostDir  `json:"hostDir,omitempty"`
	EmptyDir *EmptyDir `json:"emptyDir,omitempty"`
}

// HostDir is a directory of the host. The kubelet neither creates nor removes it.
type HostDir struct {
	Path string `json:"path"`
}

// EmptyDir is a directory that is removed with its pod.
type EmptyDir struct{}

// Protocol of a port, upper case.
type Protocol string

// The protocols Docker publishes.
const (
	ProtocolTCP Protocol = "TCP"
	ProtocolUDP Protocol = "UDP"
)

// Port is a port of a container. All containers of a pod share one network namespace, so that of
// the network container is published.
type Port struct {
	Name          string   `json:"name,omitempty"`     // DNS label, unique in the container
	HostPort      int      `json:"hostPort,omitempty"` // 0: not published
	ContainerPort int      `json:"containerPort"`
	Protocol      Protocol `json:"protocol,omitempty"` // default TCP
	HostIP        string   `json:"hostIP,omitempty"`   // empty: every address of the host
}

// VolumeMount puts one of the pod's volumes into a container.
type VolumeMount struct {
	Name      string `json:"name"` // of a volume of the pod
	ReadOnly  bool   `json:"readOnly,omitempty"`
	MountPath string `json:"mountPath"`
}

// EnvVar is one environment variable of a container.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Container is one program of a pod and what it runs with.
type Container struct {
	Name                   string         `json:"name"` // DNS label, unique in the pod, not NetworkContainerName
	Image                  string         `json:"image"`
	Command                []string       `json:"command,omitempty"` // replaces the image's CMD; its ENTRYPOINT stays
	WorkingDir             string         `json:"workingDir,omitempty"`
	Ports                  []Port         `json:"ports,omitempty"`
	Env                    []EnvVar       `json:"env,omitempty"`
	Memory                 int64          `json:"memory,omitempty"` // bytes, 0: no limit
	CPU                    int64          `json:"cpu,omitempty"`    // thousandths of a core, 0: Docker's default share
	VolumeMounts           []VolumeMount  `json:"volumeMounts,omitempty"`
	LivenessProbe          *LivenessProbe `json:"livenessProbe,omitempty"`
	Lifecycle              *Lifecycle     `json:"lifecycle,omitempty"`
	TerminationMessagePath string         `json:"terminationMessagePath,omitempty"`
	Privileged             bool           `json:"privileged,omitempty"`
	ImagePullPolicy        PullPolicy     `json:"imagePullPolicy,omitempty"`
}

// PullPolicy is when an image is pulled.
type PullPolicy string

// The pull policies, in the spelling of the manifests.
const (
	PullAlways       PullPolicy = "PullAlways"
	PullNever        PullPolicy = "PullNever"
	PullIfNotPresent PullPolicy = "PullIfNotPresent"
)

// LivenessProbe tests whether a container still works. Exactly one action is set.
type LivenessProbe struct {
	HTTPGet             *HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket           *TCPSocketAction `json:"tcpSocket,omitempty"`
	Exec                *ExecAction      `json:"exec,omitempty"`
	InitialDelaySeconds int64            `json:"initialDelaySeconds,omitempty"`
}

// IntOrString is a port in a probe or a hook: a number, or the name of a port of the container.
type IntOrString struct {
	Int int    // if Str is empty
	Str string // a port name, or a number in quotes
}

// String returns the number or the name.
func (v IntOrString) String() string {
	if v.Str != "" {
		return v.Str
	}
	return strconv.Itoa(v.Int)
}

// MarshalJSON implements json.Marshaler.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Str != "" {
		return json.Marshal(v.Str)
	}
	return json.Marshal(v.Int)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	if *v = (IntOrString{}); data[0] == '"' {
		return json.Unmarshal(data, &v.Str)
	}
	return json.Unmarshal(data, &v.Int)
}

// HTTPGetAction requests http://host:port/path.
type HTTPGetAction struct {
	Path string      `json:"path,omitempty"`
	Port IntOrString `json:"port,omitzero"`
	Host string      `json:"host,omitempty"` // empty: the pod's IP
}

// TCPSocketAction opens a connection to the pod's IP.
type TCPSocketAction struct {
	Port IntOrString `json:"port,omitzero"`
}

// ExecAction runs a command in the container, without a shell.
type ExecAction struct {
	Command []string `json:"command,omitempty"`
}

// Lifecycle holds the hooks of a container.
type Lifecycle struct {
	PostStart *Handler `json:"postStart,omitempty"`
	PreStop   *Handler `json:"preStop,omitempty"`
}

// Handler is the action of a hook. Exactly one field is set.
type Handler struct {
	Exec    *ExecAction    `json:"exec,omitempty"`
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`
}

// RestartPolicy is what happens when a container of the pod ends. At most one field is set; none means Always.
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
	// RestartPolicyNever starts each container once in its UID's life.
	RestartPolicyNever struct{}
)

const (
	NetworkContainerName = "net"     // the name of every pod's network container, and of no other
	NamespaceDefault     = "default" // the namespace of all pods: a manifest of 2014 has none
)
