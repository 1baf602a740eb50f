package v1beta1

import (
	"fmt"
	"strings"

	"kubelet14/api"
)

// reader converts wire types of one version to internal ones, and collects what
// it has to refuse. Where the two types have the same fields, Go's own
// conversion does, and stops compiling when one of them gets another field.
type reader struct {
	version string
	errs    api.FieldErrors
}

func (r *reader) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return r.errs
}

func (r *reader) refuse(field, format string, args ...any) {
	r.errs = append(r.errs, api.FieldError{Field: field, Problem: fmt.Sprintf(format, args...)})
}

func item(list string, i int) string {
	return fmt.Sprintf("%s[%d]", list, i)
}

// manifest converts in; at is the path before its fields, with its dot.
func (r *reader) manifest(at string, in *ContainerManifest) api.ContainerManifest {
	out := api.ContainerManifest{
		Version: r.version,
		ID:      in.ID,
		UUID:    in.UUID,
		RestartPolicy: api.RestartPolicy{
			Always:    (*api.RestartPolicyAlways)(in.RestartPolicy.Always),
			OnFailure: (*api.RestartPolicyOnFailure)(in.RestartPolicy.OnFailure),
			Never:     (*api.RestartPolicyNever)(in.RestartPolicy.Never),
		},
	}
	for i, v := range in.Volumes {
		out.Volumes = append(out.Volumes, api.Volume{
			Name:   v.Name,
			Source: r.volumeSource(at+item("volumes", i)+".source", v.Source),
		})
	}
	for i := range in.Containers {
		out.Containers = append(out.Containers, r.container(at+item("containers", i), &in.Containers[i], &out))
	}
	return out
}

func (r *reader) volumeSource(at string, in *VolumeSource) *api.VolumeSource {
	if in == nil {
		return nil
	}
	const unsupported = "this kind of volume is not supported: use hostDir or emptyDir"
	if in.PersistentDisk != nil {
		r.refuse(at+".persistentDisk", unsupported)
	}
	if in.GitRepo != nil {
		r.refuse(at+".gitRepo", unsupported)
	}
	return &api.VolumeSource{HostDir: (*api.HostDir)(in.HostDir), EmptyDir: (*api.EmptyDir)(in.EmptyDir)}
}

func (r *reader) container(at string, in *Container, pod *api.ContainerManifest) api.Container {
	out := api.Container{
		Name:                   in.Name,
		Image:                  in.Image,
		Command:                in.Command,
		WorkingDir:             in.WorkingDir,
		Memory:                 in.Memory,
		CPU:                    in.CPU,
		LivenessProbe:          readProbe(in.LivenessProbe),
		TerminationMessagePath: in.TerminationMessagePath,
		Privileged:             in.Privileged,
		ImagePullPolicy:        in.ImagePullPolicy,
	}
	if in.Lifecycle != nil {
		out.Lifecycle = &api.Lifecycle{
			PostStart: readHandler(in.Lifecycle.PostStart),
			PreStop:   readHandler(in.Lifecycle.PreStop),
		}
	}
	// The words may be written in any case. Behind this there is one spelling.
	for _, known := range []api.PullPolicy{api.PullAlways, api.PullNever, api.PullIfNotPresent} {
		if strings.EqualFold(string(in.ImagePullPolicy), string(known)) {
			out.ImagePullPolicy = known
		}
	}
	for _, p := range in.Ports {
		out.Ports = append(out.Ports, readPort(p))
	}
	for i, e := range in.Env {
		name := r.oldName(at+"."+item("env", i), "key", e.Key, "name", e.Name)
		out.Env = append(out.Env, api.EnvVar{Name: name, Value: e.Value})
	}
	for i, m := range in.VolumeMounts {
		out.VolumeMounts = append(out.VolumeMounts, r.volumeMount(at+"."+item("volumeMounts", i), m, pod))
	}
	return out
}

func readPort(in Port) api.Port {
	out := api.Port(in)
	for _, known := range []api.Protocol{api.ProtocolTCP, api.ProtocolUDP} {
		if strings.EqualFold(string(in.Protocol), string(known)) {
			out.Protocol = known
		}
	}
	return out
}

// oldName gives the value of a field that had another name before. Both at once
// are fine only when they agree.
func (r *reader) oldName(at, oldField, old, newField, value string) string {
	switch {
	case old == "":
		return value
	case r.version != Version:
		r.refuse(at+"."+oldField, "%s calls this field %q", r.version, newField)
	case value != "" && value != old:
		r.refuse(at+"."+oldField, "this is the old name of %q, and the two differ: remove %q", newField, oldField)
	}
	return old
}

// volumeMount converts a mount, and gives it the volume that an old mountType
// speaks of. Before volumes had sources (PR #527), "mountType: HOST" meant the
// host's directory at the very path of the mount, and no entry in volumes.
func (r *reader) volumeMount(at string, in VolumeMount, pod *api.ContainerManifest) api.VolumeMount {
	out := api.VolumeMount{
		Name:      in.Name,
		ReadOnly:  in.ReadOnly,
		MountPath: r.oldName(at, "path", in.Path, "mountPath", in.MountPath),
	}
	at += ".mountType"
	switch {
	case in.MountType == "":
	case r.version != Version:
		r.refuse(at, "%s has no mountType: give the volume a source, such as hostDir", r.version)
	case in.MountType == "HOST":
		r.hostMount(at, out, pod)
	case in.MountType == "LOCAL":
		if v := findVolume(pod, in.Name); v != nil && v.Source != nil && v.Source.HostDir != nil {
			r.refuse(at, "volume %q is a hostDir, which is not LOCAL: remove mountType", in.Name)
		}
	default:
		r.refuse(at, "unsupported value '%s': HOST or LOCAL", in.MountType)
	}
	return out
}

func (r *reader) hostMount(at string, mount api.VolumeMount, pod *api.ContainerManifest) {
	if mount.Name == "" {
		return // validation asks for it
	}
	v := findVolume(pod, mount.Name)
	if v == nil {
		source := &api.VolumeSource{HostDir: &api.HostDir{Path: mount.MountPath}}
		pod.Volumes = append(pod.Volumes, api.Volume{Name: mount.Name, Source: source})
		return
	}
	if v.Source == nil || v.Source.HostDir == nil || v.Source.HostDir.Path != mount.MountPath {
		r.refuse(at, "HOST means the host's directory %q, but volume %q is something else: remove mountType", mount.MountPath, mount.Name)
	}
}

func findVolume(pod *api.ContainerManifest, name string) *api.Volume {
	for i := range pod.Volumes {
		if pod.Volumes[i].Name == name {
			return &pod.Volumes[i]
		}
	}
	return nil
}

func readProbe(in *LivenessProbe) *api.LivenessProbe {
	if in == nil {
		return nil
	}
	return &api.LivenessProbe{
		HTTPGet:             (*api.HTTPGetAction)(in.HTTPGet),
		TCPSocket:           (*api.TCPSocketAction)(in.TCPSocket),
		Exec:                (*api.ExecAction)(in.Exec),
		InitialDelaySeconds: in.InitialDelaySeconds,
	}
}

func readHandler(in *Handler) *api.Handler {
	if in == nil {
		return nil
	}
	return &api.Handler{Exec: (*api.ExecAction)(in.Exec), HTTPGet: (*api.HTTPGetAction)(in.HTTPGet)}
}
