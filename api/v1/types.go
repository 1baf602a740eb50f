package v1

import "kubelet14/api"

// Pod is a pod of today. Each field has the Go name of the internal field, so that api.Copy finds it, and the JSON name of v1:
// Command is "args", because in 2014 a command followed the image's entrypoint.
type Pod struct {
	APIVersion string   `json:"apiVersion"` // Version
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`

	_ api.Ignored `fields:"status"`
}

// Metadata identifies a pod.
type Metadata struct {
	ID          string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	UUID        string            `json:"uid,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`

	_ api.Ignored `fields:"creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation"`
	_ api.Ignored `fields:"managedFields ownerReferences resourceVersion selfLink"`
}

// Spec describes what a pod runs.
type Spec struct {
	Volumes                       []Volume            `json:"volumes,omitempty"`
	InitContainers                []Container         `json:"initContainers,omitempty"`
	Containers                    []Container         `json:"containers"`
	Restart                       string              `json:"restartPolicy,omitempty"` // Always, OnFailure or Never
	TerminationGracePeriodSeconds *int64              `json:"terminationGracePeriodSeconds,omitempty"`
	HostNetwork                   bool                `json:"hostNetwork,omitempty"`
	Hostname                      string              `json:"hostname,omitempty"`
	HostAliases                   []api.HostAlias     `json:"hostAliases,omitempty"`
	DNSPolicy                     string              `json:"dnsPolicy,omitempty"`
	DNSConfig                     *DNSConfig          `json:"dnsConfig,omitempty"`
	SecurityContext               *PodSecurityContext `json:"securityContext,omitempty"`
	Priority                      int64               `json:"priority,omitempty"`
	PriorityClassName             string              `json:"priorityClassName,omitempty"`
	EnableServiceLinks            *bool               `json:"enableServiceLinks,omitempty"`
	HostPID                       bool                `json:"hostPID,omitempty"`
	HostIPC                       bool                `json:"hostIPC,omitempty"`
	ShareProcessNamespace         bool                `json:"shareProcessNamespace,omitempty"`
	Subdomain                     string              `json:"subdomain,omitempty"`
	ActiveDeadlineSeconds         *int64              `json:"activeDeadlineSeconds,omitempty"`

	_ api.Ignored `fields:"affinity nodeName nodeSelector tolerations topologySpreadConstraints schedulerName schedulingGates"`
	_ api.Ignored `fields:"preemptionPolicy overhead os readinessGates"`
	_ api.Ignored `fields:"serviceAccount serviceAccountName automountServiceAccountToken"`
	_ api.Ignored `fields:"imagePullSecrets" why:"this host's docker login is used"`

	_ api.Unsupported `fields:"ephemeralContainers" instead:"use docker exec"`
	_ api.Unsupported `fields:"resourceClaims setHostnameAsFQDN"`
	_ api.Unsupported `fields:"hostUsers" default:"true" instead:"set userns-remap in Docker's configuration"`
	_ api.Unsupported `fields:"resources" default:"{}" instead:"write them in each container"`
	_ api.Unsupported `fields:"runtimeClassName" instead:"remove it; default-runtime in Docker's configuration is for all containers"`
}

// Volume is a directory that the containers of a pod may mount by name. One without a source is an emptyDir.
type Volume struct {
	Name     string        `json:"name"`
	HostDir  *api.HostDir  `json:"hostPath,omitempty"`
	EmptyDir *api.EmptyDir `json:"emptyDir,omitempty"`
	Claim    *api.Claim    `json:"persistentVolumeClaim,omitempty"`

	ConfigMap   *api.ObjectFiles `json:"configMap,omitempty"`
	Secret      *api.SecretFiles `json:"secret,omitempty"`
	DownwardAPI *api.FieldFiles  `json:"downwardAPI,omitempty"`
	Projected   *api.Projected   `json:"projected,omitempty"`

	_ api.Unsupported `fields:"awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume" instead:"mount it on the host and use hostPath"`
	_ api.Unsupported `fields:"flocker gcePersistentDisk glusterfs iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume" instead:"mount it on the host and use hostPath"`
	_ api.Unsupported `fields:"ephemeral" instead:"use emptyDir"`
	_ api.Unsupported `fields:"gitRepo image" instead:"fill an emptyDir in an init container"`
	_ api.Unsupported `fields:"hostDir" instead:"v1 calls it hostPath"`
	_ api.Unsupported `fields:"source" instead:"in v1 hostPath and emptyDir are beside the name"`
}

// DNSConfig is how the containers of a pod resolve names.
type DNSConfig struct {
	Nameservers []string    `json:"nameservers,omitempty"`
	Searches    []string    `json:"searches,omitempty"`
	Options     []DNSOption `json:"options,omitempty"`
}

// DNSOption is an option of the resolver, such as ndots with the value 2.
type DNSOption struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// PodSecurityContext applies to all containers of a pod, unless their own overrides it.
type PodSecurityContext struct {
	RunAsUser  *int64 `json:"runAsUser,omitempty"`
	RunAsGroup *int64 `json:"runAsGroup,omitempty"`

	FSGroup            *int64          `json:"fsGroup,omitempty"`
	SupplementalGroups []int64         `json:"supplementalGroups,omitempty"`
	RunAsNonRoot       *bool           `json:"runAsNonRoot,omitempty"`
	Seccomp            *SeccompProfile `json:"seccompProfile,omitempty"`

	_ api.Ignored     `fields:"fsGroupChangePolicy" why:"the files in a volume keep their groups"`
	_ api.Unsupported `fields:"supplementalGroupsPolicy" default:"Merge"`
	_ api.Unsupported `fields:"appArmorProfile" default:"RuntimeDefault" instead:"use the type RuntimeDefault"`
	_ api.Unsupported `fields:"sysctls" instead:"set them on the host, and for those of net write hostNetwork"`
	_ api.Unsupported `fields:"seLinuxChangePolicy"`
	_ api.Unsupported `fields:"seLinuxOptions windowsOptions" default:"{}"`
}

// List is a list of pods, as kubectl prints it.
type List struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []any  `json:"items"`

	_ api.Ignored `fields:"metadata"`
}

// PodList is the same.
type PodList List
