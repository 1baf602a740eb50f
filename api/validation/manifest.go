package validation

import (
	"reflect"
	"strings"

	"kubelet14/api"
)

// Rules are what the operator of this host allows.
type Rules struct {
	AllowPrivileged bool
}

// ValidatePod checks a pod's identity and its manifest.
func (r Rules) ValidatePod(p *api.Pod) api.FieldErrors {
	var errs api.FieldErrors
	if !IsDNSSubdomain(p.Name) {
		add(&errs, Invalid, "name", p.Name, wantSubdomain)
	}
	if !IsDNSLabel(p.Namespace) {
		add(&errs, Invalid, "namespace", p.Namespace, wantLabel)
	}
	if !IsDNSLabel(p.Source) {
		add(&errs, Invalid, "source", p.Source, wantLabel)
	}
	if !isUID(p.UID) {
		add(&errs, Invalid, "uid", p.UID, wantUID)
	}
	return append(errs, r.ValidateManifest(&p.Manifest)...)
}

// ValidateManifest checks a manifest as it was written: what is optional may be
// missing. Words such as TCP have one spelling: a conversion gave it to them.
func (r Rules) ValidateManifest(m *api.ContainerManifest) api.FieldErrors {
	var errs api.FieldErrors
	switch m.Version {
	case "v1beta1", "v1beta2":
	case "":
		add(&errs, Required, "version", "", "v1beta1 or v1beta2")
	default:
		add(&errs, Unsupported, "version", m.Version, "v1beta1 or v1beta2")
	}
	if m.ID != "" && !IsDNSSubdomain(m.ID) {
		add(&errs, Invalid, "id", m.ID, wantSubdomain)
	}
	if m.UUID != "" && !isUID(m.UUID) {
		add(&errs, Invalid, "uuid", m.UUID, wantUID)
	}
	volumes := names{}
	for i := range m.Volumes {
		addItem(&errs, "volumes", i, validateVolume(&m.Volumes[i], volumes))
	}
	containers, hostPorts := names{}, hostPorts{}
	for i := range m.Containers {
		addItem(&errs, "containers", i, r.validateContainer(&m.Containers[i], containers, volumes, hostPorts))
	}
	if kinds := given(m.RestartPolicy); len(kinds) > 1 {
		add(&errs, Invalid, "restartPolicy", strings.Join(kinds, ", "), "only 1 policy is allowed")
	}
	return errs
}

// names are the names taken so far.
type names map[string]bool

// validateName checks a name that must be there, be a DNS label and be new.
func (taken names) validateName(name string) api.FieldErrors {
	var errs api.FieldErrors
	switch {
	case name == "":
		add(&errs, Required, "name", name, "")
	case !IsDNSLabel(name):
		add(&errs, Invalid, "name", name, wantLabel)
	case taken[name]:
		add(&errs, Duplicate, "name", name, "")
	}
	taken[name] = true
	return errs
}

func validateVolume(v *api.Volume, taken names) api.FieldErrors {
	errs := taken.validateName(v.Name)
	if v.Source == nil {
		return errs
	}
	if kinds := given(*v.Source); len(kinds) != 1 {
		add(&errs, Invalid, "source", strings.Join(kinds, ", "), "exactly 1 volume type is required: hostDir or emptyDir")
	}
	if v.Source.HostDir != nil {
		validatePath(&errs, "source.hostDir.path", v.Source.HostDir.Path)
	}
	return errs
}

// validatePath checks a path that must be there and be absolute.
func validatePath(errs *api.FieldErrors, field, path string) {
	switch {
	case path == "":
		add(errs, Required, field, path, "")
	case path[0] != '/':
		add(errs, Invalid, field, path, wantAbsolute)
	}
}

// given lists those pointers of a struct that are set, by their names in a
// manifest.
func given(v any) []string {
	var names []string
	fields := reflect.ValueOf(v)
	for i := range fields.NumField() {
		if f := fields.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}
