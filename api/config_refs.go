package api

// How a pod refers to ConfigObjects and to its own fields. The types are those of v1, too.

// EnvFrom makes a variable of every value of an object. Exactly one of the two is set.
type EnvFrom struct {
	Prefix       string     `json:"prefix,omitempty"` // of the names of the variables
	ConfigMapRef *ObjectRef `json:"configMapRef,omitempty"`
	SecretRef    *ObjectRef `json:"secretRef,omitempty"`
}

// ObjectRef names an object of the pod's namespace.
type ObjectRef struct {
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"` // it may be missing
}

// KeyRef names one value of an object of the pod's namespace.
type KeyRef struct {
	Name     string `json:"name"`
	Key      string `json:"key"`
	Optional bool   `json:"optional,omitempty"` // object or key may be missing
}

// ObjectFiles makes files of the values of an object.
type ObjectFiles struct {
	Name        string    `json:"name"`
	Items       []KeyPath `json:"items,omitempty"` // none: a file for each key, with its name
	DefaultMode *FileMode `json:"defaultMode,omitempty"`
	Optional    bool      `json:"optional,omitempty"`
}

// SecretFiles is ObjectFiles with the name that the volume of a Secret has for the name.
type SecretFiles struct {
	Name        string    `json:"secretName"`
	Items       []KeyPath `json:"items,omitempty"`
	DefaultMode *FileMode `json:"defaultMode,omitempty"`
	Optional    bool      `json:"optional,omitempty"`
}

// KeyPath makes a file of one value.
type KeyPath struct {
	Key  string    `json:"key"`
	Path string    `json:"path"` // relative
	Mode *FileMode `json:"mode,omitempty"`
}

// FieldFiles makes files of fields of the pod and of its containers' resources.
type FieldFiles struct {
	Items       []FieldPath `json:"items,omitempty"`
	DefaultMode *FileMode   `json:"defaultMode,omitempty"`
}

// FieldPath makes a file of one field.
type FieldPath struct {
	Path     string    `json:"path"` // relative
	FieldRef *FieldRef `json:"fieldRef,omitempty"`
	Mode     *FileMode `json:"mode,omitempty"`

	ResourceRef *ResourceRef `json:"resourceFieldRef,omitempty"` // in place of FieldRef
}

// FieldRef names a field of the pod, such as metadata.labels.
type FieldRef struct {
	FieldPath string `json:"fieldPath"`

	_ Unsupported `fields:"apiVersion" default:"v1" instead:"write v1"`
}

// ResourceRef names a limit or request of a container, such as limits.memory.
type ResourceRef struct {
	Container string `json:"containerName,omitempty"` // empty: the one whose variable it is
	Resource  string `json:"resource"`
	Divisor   Text   `json:"divisor,omitempty"` // a quantity, which counts as 1; empty or 0: a core, a byte
}

// ResourceUnits are the resources that a ResourceRef can name. Each has the number of units that ParseQuantity counts in a core or a byte.
var ResourceUnits = map[string]int64{"limits.cpu": 1000, "requests.cpu": 1000, "limits.memory": 1, "requests.memory": 1}

// FileMode is the permissions of a file. Decode reads 0440 as YAML 1.1 does, as an octal number.
type FileMode int64

// Projected is a volume with the files of several sources.
type Projected struct {
	Sources     []Projection `json:"sources,omitempty"`
	DefaultMode *FileMode    `json:"defaultMode,omitempty"`
}

// Projection is one source of files. Exactly one field is set.
type Projection struct {
	ConfigMap   *ObjectFiles `json:"configMap,omitempty"`
	Secret      *ObjectFiles `json:"secret,omitempty"`
	DownwardAPI *FieldFiles  `json:"downwardAPI,omitempty"`

	_ Unsupported `fields:"serviceAccountToken podCertificate" instead:"remove it: there is no API server that would take it"`
	_ Unsupported `fields:"clusterTrustBundle" instead:"put the certificates into a ConfigMap"`
}

// ConfigRef is a reference of a pod to a ConfigObject of its namespace.
type ConfigRef struct {
	Kind, Name string
	Optional   bool // the object, or a key of it, may be missing
}

// ConfigRefs returns the references of a pod, in their order, each as often as it is there.
func (m *ContainerManifest) ConfigRefs() (refs []ConfigRef) {
	for _, c := range m.All() {
		for _, from := range c.EnvFrom {
			refs = append(refs, from.Ref())
		}
		for _, env := range c.Env {
			if ref, key := env.Ref(); key != "" {
				refs = append(refs, ref)
			}
		}
	}
	for i := range m.Volumes {
		projections, _ := m.Volumes[i].Source.Projections()
		for _, p := range projections {
			if ref, _ := p.Ref(); ref.Kind != "" {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// Ref returns the reference to the object.
func (e *EnvFrom) Ref() ConfigRef {
	if e.SecretRef != nil {
		return ConfigRef{KindSecret, e.SecretRef.Name, e.SecretRef.Optional}
	}
	return ConfigRef{KindConfigMap, e.ConfigMapRef.Name, e.ConfigMapRef.Optional}
}

// Ref returns the reference to a value, and no key if the variable has another source.
func (e *EnvVar) Ref() (ref ConfigRef, key string) {
	switch {
	case e.ConfigMapKey != nil:
		return ConfigRef{KindConfigMap, e.ConfigMapKey.Name, e.ConfigMapKey.Optional}, e.ConfigMapKey.Key
	case e.SecretKey != nil:
		return ConfigRef{KindSecret, e.SecretKey.Name, e.SecretKey.Optional}, e.SecretKey.Key
	}
	return ref, ""
}

// Projections returns the sources of the files of a volume, and the mode of those that have none of their own; none if it is a
// volume of another kind.
func (s *VolumeSource) Projections() (sources []Projection, mode *FileMode) {
	switch {
	case s == nil:
	case s.ConfigMap != nil:
		return []Projection{{ConfigMap: s.ConfigMap}}, s.ConfigMap.DefaultMode
	case s.Secret != nil:
		return []Projection{{Secret: new(ObjectFiles(*s.Secret))}}, s.Secret.DefaultMode
	case s.DownwardAPI != nil:
		return []Projection{{DownwardAPI: s.DownwardAPI}}, s.DownwardAPI.DefaultMode
	case s.Projected != nil:
		return s.Projected.Sources, s.Projected.DefaultMode
	}
	return nil, nil
}

// HasFiles reports whether the kubelet makes the files of a volume. Containers can only read them.
func (s *VolumeSource) HasFiles() bool {
	return s != nil && (s.ConfigMap != nil || s.Secret != nil || s.DownwardAPI != nil || s.Projected != nil)
}

// Ref returns the reference to an object, with the files to make of it. It has no kind if the files are of the pod itself.
func (p *Projection) Ref() (ref ConfigRef, items []KeyPath) {
	switch {
	case p.ConfigMap != nil:
		return ConfigRef{KindConfigMap, p.ConfigMap.Name, p.ConfigMap.Optional}, p.ConfigMap.Items
	case p.Secret != nil:
		return ConfigRef{KindSecret, p.Secret.Name, p.Secret.Optional}, p.Secret.Items
	}
	return ref, nil
}
