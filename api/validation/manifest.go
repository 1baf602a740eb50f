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
func (r Rules) ValidatePod(p *api.Pod) ErrorList {
	var errs ErrorList
	if !IsDNSSubdomain(p.Name) {
		errs.add(Invalid, "name", p.Name, wantSubdomain)
	}
	if !IsDNSLabel(p.Namespace) {
		errs.add(Invalid, "namespace", p.Namespace, wantLabel)
	}
	if !IsDNSLabel(p.Source) {
		errs.add(Invalid, "source", p.Source, wantLabel)
	}
	if !isUID(p.UID) {
		errs.add(Invalid, "uid", p.UID, wantUID)
	}
	return append(errs, r.ValidateManifest(&p.Manifest)...)
}

// ValidateManifest checks a manifest as it was written: what is optional may be
// missing.
func (r Rules) ValidateManifest(m *api.ContainerManifest) ErrorList {
	var errs ErrorList
	switch {
	case m.Version == "":
		errs.add(Required, "version", "", "v1beta1 or v1beta2")
	case !strings.EqualFold(m.Version, "v1beta1") && !strings.EqualFold(m.Version, "v1beta2"):
		errs.add(Unsupported, "version", m.Version, "v1beta1 or v1beta2")
	}
	if m.ID != "" && !IsDNSSubdomain(m.ID) {
		errs.add(Invalid, "id", m.ID, wantSubdomain)
	}
	if m.UUID != "" && !isUID(m.UUID) {
		errs.add(Invalid, "uuid", m.UUID, wantUID)
	}
	volumes := names{}
	for i := range m.Volumes {
		errs.addItem("volumes", i, validateVolume(&m.Volumes[i], volumes))
	}
	containers, hostPorts := names{}, hostPorts{}
	for i := range m.Containers {
		errs.addItem("containers", i, r.validateContainer(&m.Containers[i], containers, volumes, hostPorts))
	}
	if kinds := given(m.RestartPolicy); len(kinds) > 1 {
		errs.add(Invalid, "restartPolicy", strings.Join(kinds, ", "), "only 1 policy is allowed")
	}
	return errs
}

// names are the names taken so far.
type names map[string]bool

// validateName checks a name that must be there, be a DNS label and be new.
func (taken names) validateName(name string) ErrorList {
	var errs ErrorList
	switch {
	case name == "":
		errs.add(Required, "name", name, "")
	case !IsDNSLabel(name):
		errs.add(Invalid, "name", name, wantLabel)
	case taken[name]:
		errs.add(Duplicate, "name", name, "")
	}
	taken[name] = true
	return errs
}

func validateVolume(v *api.Volume, taken names) ErrorList {
	errs := taken.validateName(v.Name)
	if v.Source == nil {
		return errs
	}
	if kinds := given(*v.Source); len(kinds) != 1 {
		errs.add(Invalid, "source", strings.Join(kinds, ", "), "exactly 1 volume type is required: hostDir or emptyDir")
	}
	if v.Source.HostDir != nil {
		validatePath(&errs, "source.hostDir.path", v.Source.HostDir.Path)
	}
	return errs
}

// validatePath checks a path that must be there and be absolute.
func validatePath(errs *ErrorList, field, path string) {
	switch {
	case path == "":
		errs.add(Required, field, path, "")
	case path[0] != '/':
		errs.add(Invalid, field, path, wantAbsolute)
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
