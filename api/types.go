package api

import (
	"net/netip"
	"path/filepath"
)

// ContainerManifest is the desired state of a pod, which today is a pod's spec. This is the
// internal form: every wire version is converted to it.
//
// A container's hash is made of the JSON of these types, so every optional field is omitempty:
// a field that is added later changes no hash of today. The tag of a field named _ lists other fields that
// a v1 Pod may have there; see Ignored and Unsupported.
type ContainerManifest struct {
	Version       string        `json:"version"` // v1beta1, v1beta2 or v1
	ID            string        `json:"id,omitempty"`
	UUID          string        `json:"uuid,omitempty"`
	Volumes       []Volume      `json:"volumes,omitempty"`
	Containers    []Container   `json:"containers,omitempty"` // empty: a pod of a network container alone
	RestartPolicy RestartPolicy `json:"restartPolicy,omitzero"`

	// Fields that no manifest of 2014 has:
	Namespace                     string            `json:"namespace,omitempty"` // empty: NamespaceDefault
	Labels                        map[string]string `json:"labels,omitempty"`
	Annotations                   map[string]string `json:"annotations,omitempty"`
	InitContainers                []Container       `json:"initContainers,omitempty"` // start one after the other before the containers
	HostNetwork                   bool              `json:"hostNetwork,omitempty"`
	Hostname                      string            `json:"hostname,omitempty"` // empty: the name of the pod
	HostAliases                   []HostAlias       `json:"hostAliases,omitempty"`
	DNS                           *DNSConfig        `json:"dns,omitempty"`                           // nil: as Docker does it
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds,omitempty"` // nil: the kubelet's own
	Priority                      int64             `json:"priority,omitempty"`                      // see package eviction
	PriorityClassName             string            `json:"priorityClassName,omitempty"`
	EnableServiceLinks            *bool             `json:"enableServiceLinks,omitempty"` // nil: true
	HostPID                       bool              `json:"hostPID,omitempty"`
	HostIPC                       bool              `json:"hostIPC,omitempty"`
	ShareProcessNamespace         bool              `json:"shareProcessNamespace,omitempty"`
	FSGroup                       *int64            `json:"fsGroup,omitempty"` // the group of EmptyDirs and Claims, and one of each process
	SupplementalGroups            []int64           `json:"supplementalGroups,omitempty"`
	Subdomain                     string            `json:"subdomain,omitempty"`             // the pod is also found as HOSTNAME.SUBDOMAIN
	ActiveDeadlineSeconds         *int64            `json:"activeDeadlineSeconds,omitempty"` // after which the pod has failed; nil: none
	// Ignored has the paths of fields that were read and mean nothing on one host, such as spec.nodeSelector.
	Ignored []string `json:"-"`
	// Services are those of the pod's namespace and source, sorted by name. PodConfig fills them in.
	Services []Service `json:"-"`
}

// HostAlias is a line of the file /etc/hosts of every container of a pod.
type HostAlias struct {
	IP        string   `json:"ip"`
	Hostnames []string `json:"hostnames"`
}

// DNSConfig is how the containers of a pod find names.
type DNSConfig struct {
	Nameservers []string `json:"nameservers,omitempty"` // IPs; none: Docker's
	Searches    []string `json:"searches,omitempty"`
	Options     []string `json:"options,omitempty"` // such as ndots:2
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
	Claim    *Claim    `json:"persistentVolumeClaim,omitempty"`

	// The kubelet makes the files of these, see Projections:
	ConfigMap   *ObjectFiles `json:"configMap,omitempty"`
	Secret      *SecretFiles `json:"secret,omitempty"`
	DownwardAPI *FieldFiles  `json:"downwardAPI,omitempty"`
	Projected   *Projected   `json:"projected,omitempty"`
}

// Claim is a directory of the root_dir that all pods of a namespace that name it share. It stays when they are gone.
type Claim struct {
	Name     string `json:"claimName"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// HostDir is a directory of the host, or what its type says. The kubelet removes none of them.
type HostDir struct {
	Path string      `json:"path"`
	Type HostDirType `json:"type,omitempty"`
}

// HostDirType is what must be at the path of a HostDir before a container that mounts it is created.
type HostDirType string

// The types of a HostDir.
const (
	HostDirAny               HostDirType = "" // whatever is there; 2014 knew only this
	HostDirDirectory         HostDirType = "Directory"
	HostDirDirectoryOrCreate HostDirType = "DirectoryOrCreate"
	HostDirFile              HostDirType = "File"
	HostDirFileOrCreate      HostDirType = "FileOrCreate"
	HostDirSocket            HostDirType = "Socket"
	HostDirCharDevice        HostDirType = "CharDevice"
	HostDirBlockDevice       HostDirType = "BlockDevice"
)

// EmptyDir is a directory that is removed with its pod.
type EmptyDir struct {
	_ Ignored     `fields:"medium sizeLimit" why:"it is an ordinary directory of the host"`
	_ Unsupported `fields:"mode" default:"0777" instead:"it is 0777: change it in an init container"`
}

// Protocol of a port, upper case.
type Protocol string

// The protocols Docker publishes.
const (
	ProtocolTCP Protocol = "TCP"
	ProtocolUDP Protocol = "UDP"
)

// Port is a port of a container. All containers of a pod share one network, so the network container
// publishes it.
type Port struct {
	Name          string   `json:"name,omitempty"`     // DNS label, unique in the container
	HostPort      int      `json:"hostPort,omitempty"` // 0: not published
	ContainerPort int      `json:"containerPort"`
	Protocol      Protocol `json:"protocol,omitempty"` // default TCP
	HostIP        string   `json:"hostIP,omitempty"`   // empty: every address of the host

	_ Unsupported `fields:"port" instead:"write containerPort"`
}

// Overlaps reports whether two ports share number, protocol and an address of the host.
func (p Port) Overlaps(other Port) bool {
	ip, _ := netip.ParseAddr(p.HostIP)
	otherIP, _ := netip.ParseAddr(other.HostIP)
	every := func(ip netip.Addr) bool { return !ip.IsValid() || ip.IsUnspecified() }
	return p.HostPort == other.HostPort && p.Protocol == other.Protocol &&
		(ip.Unmap() == otherIP.Unmap() || every(ip) || every(otherIP))
}

// VolumeMount puts one of the pod's volumes into a container.
type VolumeMount struct {
	Name      string `json:"name"` // of a volume of the pod
	ReadOnly  bool   `json:"readOnly,omitempty"`
	MountPath string `json:"mountPath"`
	SubPath   string `json:"subPath,omitempty"` // what of the volume is mounted; empty: all of it

	_ Ignored     `fields:"mountPropagation" default:"None" refused:"Bidirectional" why:"what the host mounts there later does not appear"`
	_ Unsupported `fields:"recursiveReadOnly" default:"Disabled"`
	_ Unsupported `fields:"subPathExpr" instead:"write the path itself, as subPath"`
}

// EnvVar is one environment variable of a container.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// FieldPath names a field of the pod that is the value, such as status.podIP; empty: Value is.
	FieldPath string `json:"fieldPath,omitempty"`
	// At most one of them is set; then it is the value.
	ConfigMapKey *KeyRef      `json:"configMapKey,omitempty"`
	SecretKey    *KeyRef      `json:"secretKey,omitempty"`
	ResourceRef  *ResourceRef `json:"resourceRef,omitempty"`
}

// The fields of a pod that can be the value of an environment variable, or a file.
const (
	FieldName        = "metadata.name"
	FieldNamespace   = "metadata.namespace"
	FieldUID         = "metadata.uid"
	FieldLabels      = "metadata.labels" // a file; one of them is metadata.labels['KEY']
	FieldAnnotations = "metadata.annotations"
	FieldPodIP       = "status.podIP" // a variable, as those that follow
	FieldHostIP      = "status.hostIP"
	FieldNodeName    = "spec.nodeName"
)

// Container is one program of a pod and what it runs with.
type Container struct {
	Name                   string        `json:"name"` // DNS label, unique in the pod, not NetworkContainerName
	Image                  string        `json:"image"`
	Command                []string      `json:"command,omitempty"` // replaces the image's CMD; its ENTRYPOINT stays
	WorkingDir             string        `json:"workingDir,omitempty"`
	Ports                  []Port        `json:"ports,omitempty"`
	Env                    []EnvVar      `json:"env,omitempty"`
	Memory                 int64         `json:"memory,omitempty"` // bytes, 0: no limit
	CPU                    int64         `json:"cpu,omitempty"`    // its share: thousandths of a core, 0: Docker's default
	VolumeMounts           []VolumeMount `json:"volumeMounts,omitempty"`
	LivenessProbe          *Probe        `json:"livenessProbe,omitempty"`
	Lifecycle              *Lifecycle    `json:"lifecycle,omitempty"`
	TerminationMessagePath string        `json:"terminationMessagePath,omitempty"`
	Privileged             bool          `json:"privileged,omitempty"`
	ImagePullPolicy        PullPolicy    `json:"imagePullPolicy,omitempty"`

	// Fields that no manifest of 2014 has:
	Entrypoint               []string                 `json:"entrypoint,omitempty"` // replaces the image's ENTRYPOINT and CMD
	EnvFrom                  []EnvFrom                `json:"envFrom,omitempty"`    // variables before those of Env
	CPULimit                 int64                    `json:"cpuLimit,omitempty"`   // the most it gets: thousandths of a core, 0: no limit
	StartupProbe             *Probe                   `json:"startupProbe,omitempty"`
	ReadinessProbe           *Probe                   `json:"readinessProbe,omitempty"`
	SecurityContext          *SecurityContext         `json:"securityContext,omitempty"`
	TerminationMessagePolicy TerminationMessagePolicy `json:"terminationMessagePolicy,omitempty"`
	Stdin                    bool                     `json:"stdin,omitempty"` // stays open, and nothing is written to it
	TTY                      bool                     `json:"tty,omitempty"`
	Sidecar                  bool                     `json:"sidecar,omitempty"` // of an init container: it stays, see plan.Container.IsSidecar
	MemoryRequest            int64                    `json:"-"`                 // bytes; it is in no hash, see package eviction
}

// SecurityContext is what a container may do, besides Privileged.
type SecurityContext struct {
	RunAsUser              *int64   `json:"runAsUser,omitempty"` // nil: the image's
	RunAsGroup             *int64   `json:"runAsGroup,omitempty"`
	CapAdd                 []string `json:"capAdd,omitempty"` // such as NET_ADMIN
	CapDrop                []string `json:"capDrop,omitempty"`
	ReadOnlyRootFilesystem bool     `json:"readOnlyRootFilesystem,omitempty"`
	NonRoot                bool     `json:"runAsNonRoot,omitempty"`    // refuse an image that runs as root
	NoNewPrivileges        bool     `json:"noNewPrivileges,omitempty"` // setuid programs give none
	Unconfined             bool     `json:"unconfined,omitempty"`      // by seccomp; false: Docker's profile, or this one:
	SeccompProfile         string   `json:"seccompProfile,omitempty"`  // a file below the directory seccomp of the root_dir
}

// SeccompFile returns the path of the container's own profile for seccomp, or "" if it has none.
func (s *SecurityContext) SeccompFile(rootDir string) string {
	if s.SeccompProfile == "" {
		return ""
	}
	return filepath.Join(rootDir, "seccomp", s.SeccompProfile)
}

// TerminationMessagePolicy is where a container's termination message comes from.
type TerminationMessagePolicy string

// The policies of termination messages. The zero value is as MessageFallbackToLogs.
const (
	MessageFile           TerminationMessagePolicy = "File"
	MessageFallbackToLogs TerminationMessagePolicy = "FallbackToLogsOnError" // the end of the log, if there is no file and it failed
)

// PullPolicy is when an image is pulled.
type PullPolicy string

// The pull policies, in the spelling of the manifests.
const (
	PullAlways       PullPolicy = "PullAlways"
	PullNever        PullPolicy = "PullNever"
	PullIfNotPresent PullPolicy = "PullIfNotPresent"
)

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
	// RestartPolicyNever starts each container once in the life of the pod's UID.
	RestartPolicyNever struct{}
)

const (
	NetworkContainerName = "net"     // the name of every pod's network container, and of no other
	NamespaceDefault     = "default" // the namespace of a pod whose manifest names none, as those of 2014
	// VersionV1 is the version of a Pod of today, in whose command, args and env $(NAME) is replaced.
	VersionV1 = "v1"
)
