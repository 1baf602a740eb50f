package v1

import "kubelet14/api"

// Container is one program of a pod and its settings.
type Container struct {
	Name                     string                       `json:"name"`
	Image                    string                       `json:"image"`
	Entrypoint               []string                     `json:"command,omitempty"`
	Command                  []string                     `json:"args,omitempty"`
	WorkingDir               string                       `json:"workingDir,omitempty"`
	Ports                    []api.Port                   `json:"ports,omitempty"`
	EnvFrom                  []api.EnvFrom                `json:"envFrom,omitempty"`
	Env                      []EnvVar                     `json:"env,omitempty"`
	Resources                Resources                    `json:"resources,omitzero"`
	VolumeMounts             []api.VolumeMount            `json:"volumeMounts,omitempty"`
	LivenessProbe            *api.Probe                   `json:"livenessProbe,omitempty"`
	ReadinessProbe           *api.Probe                   `json:"readinessProbe,omitempty"`
	StartupProbe             *api.Probe                   `json:"startupProbe,omitempty"`
	Lifecycle                *api.Lifecycle               `json:"lifecycle,omitempty"`
	TerminationMessagePath   string                       `json:"terminationMessagePath,omitempty"`
	TerminationMessagePolicy api.TerminationMessagePolicy `json:"terminationMessagePolicy,omitempty"`
	Pull                     string                       `json:"imagePullPolicy,omitempty"` // Always, Never or IfNotPresent
	SecurityContext          *SecurityContext             `json:"securityContext,omitempty"`
	Stdin                    bool                         `json:"stdin,omitempty"`
	TTY                      bool                         `json:"tty,omitempty"`
	Restart                  string                       `json:"restartPolicy,omitempty"` // of an init container: Always makes it a sidecar

	_ api.Ignored `fields:"resizePolicy"`

	_ api.Unsupported `fields:"restartPolicyRules" instead:"the restartPolicy of the spec is for all"`
	_ api.Unsupported `fields:"stdinOnce"`
	_ api.Unsupported `fields:"volumeDevices" instead:"use volumeMounts and a hostPath of the type BlockDevice"`
	_ api.Unsupported `fields:"cmd" instead:"v1 calls it args"`
	_ api.Unsupported `fields:"entrypoint" instead:"v1 calls it command"`
	_ api.Unsupported `fields:"cpu" instead:"in v1 it is resources.requests.cpu"`
	_ api.Unsupported `fields:"memory" instead:"in v1 it is resources.limits.memory"`
	_ api.Unsupported `fields:"privileged" instead:"in v1 it is securityContext.privileged"`
}

// EnvVar is one environment variable: a value, or where it comes from.
type EnvVar struct {
	Name      string     `json:"name"`
	Value     string     `json:"value,omitempty"`
	ValueFrom *ValueFrom `json:"valueFrom,omitempty"`
}

// ValueFrom is the source of a variable's value. Exactly one field is set.
type ValueFrom struct {
	FieldRef     *api.FieldRef `json:"fieldRef,omitempty"`
	ConfigMapKey *api.KeyRef   `json:"configMapKeyRef,omitempty"`
	SecretKey    *api.KeyRef   `json:"secretKeyRef,omitempty"`

	ResourceRef *api.ResourceRef `json:"resourceFieldRef,omitempty"`

	_ api.Unsupported `fields:"fileKeyRef" instead:"write the value itself"`
}

// Quantity is a number that may have a suffix, such as 64Mi or 250m; see api.ParseQuantity.
type Quantity = api.Text

// Resources are the limits and requests of a container.
type Resources struct {
	Limits struct {
		CPU    Quantity `json:"cpu,omitempty"`
		Memory Quantity `json:"memory,omitempty"`

		_ api.Ignored     `fields:"ephemeral-storage" why:"nothing limits it"`
		_ api.Unsupported `fields:"nvidia.com/gpu amd.com/gpu hugepages-2Mi hugepages-1Gi" instead:"pods get no such device here: remove it"`
	} `json:"limits,omitzero"`
	Requests struct {
		CPU    Quantity `json:"cpu,omitempty"` // its share
		Memory Quantity `json:"memory,omitempty"`

		_ api.Ignored     `fields:"ephemeral-storage"`
		_ api.Unsupported `fields:"nvidia.com/gpu amd.com/gpu hugepages-2Mi hugepages-1Gi" instead:"pods get no such device here: remove it"`
	} `json:"requests,omitzero"`

	_ api.Unsupported `fields:"claims"`
}

// SecurityContext is what a container may do.
type SecurityContext struct {
	Privileged   bool   `json:"privileged,omitempty"`
	RunAsUser    *int64 `json:"runAsUser,omitempty"`
	RunAsGroup   *int64 `json:"runAsGroup,omitempty"`
	Capabilities struct {
		Add  []string `json:"add,omitempty"`
		Drop []string `json:"drop,omitempty"`
	} `json:"capabilities,omitzero"`
	ReadOnlyRootFilesystem bool `json:"readOnlyRootFilesystem,omitempty"`

	AllowPrivilegeEscalation *bool           `json:"allowPrivilegeEscalation,omitempty"`
	RunAsNonRoot             *bool           `json:"runAsNonRoot,omitempty"`
	Seccomp                  *SeccompProfile `json:"seccompProfile,omitempty"`

	_ api.Unsupported `fields:"appArmorProfile" default:"RuntimeDefault" instead:"use the type RuntimeDefault"`
	_ api.Unsupported `fields:"procMount" default:"Default"`
	_ api.Unsupported `fields:"seLinuxOptions windowsOptions" default:"{}"`
}

// SeccompProfile says which system calls a container may make.
type SeccompProfile struct {
	Type             string `json:"type"`                       // RuntimeDefault, which is Docker's, Unconfined or Localhost
	LocalhostProfile string `json:"localhostProfile,omitempty"` // of the type Localhost: a file below the directory seccomp of the root_dir
}
