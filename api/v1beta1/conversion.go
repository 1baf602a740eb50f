package v1beta1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kubelet14/api"
)

// The wire versions of this package, as they are in ContainerManifest.Version.
const (
	Version  = "v1beta1"
	Version2 = "v1beta2"
)

// AddTo adds v1beta1 and v1beta2 to a Scheme.
func AddTo(s *api.Scheme) {
	for _, version := range []string{Version, Version2} {
		s.AddKnownTypes(version, ContainerManifest{}, ContainerManifestList{})
		api.AddInternalConversion(s, version, func(in *ContainerManifest, out *api.ContainerManifest) api.Mistakes {
			api.Copy(out, in)
			out.Version = version
			r := reader{version: version}
			for i := range in.Containers {
				r.container(fmt.Sprintf("containers[%d]", i), &in.Containers[i], &out.Containers[i], out)
			}
			return r.errs
		})
		// The old names are never written.
		api.AddExternalConversion(s, version, func(in *api.ContainerManifest, out *ContainerManifest) {
			api.Copy(out, in)
			out.Version = version
		})
		addInfo(s, version)
	}
}

// reader converts the old words in manifests of one version, and collects the problems.
type reader struct {
	version string
	errs    api.Mistakes
}

// pullPolicies includes the later words. The kubelet of 2014 took them for PullNever, like every unknown word.
var pullPolicies = map[string]api.PullPolicy{
	"PullAlways": api.PullAlways, "PullNever": api.PullNever, "PullIfNotPresent": api.PullIfNotPresent,
	"Always": api.PullAlways, "Never": api.PullNever, "IfNotPresent": api.PullIfNotPresent,
}

// container converts what Copy cannot: words in upper or lower case, old names and the mountType.
func (r *reader) container(path string, in *Container, out *api.Container, pod *api.ContainerManifest) {
	word := spell(string(in.ImagePullPolicy), slices.Collect(maps.Keys(pullPolicies))...)
	if out.ImagePullPolicy = pullPolicies[word]; out.ImagePullPolicy == "" && word != "" {
		r.errs.Add(path+".imagePullPolicy", "unsupported value '%s': %s", word, api.Suggest(word, pullPolicies))
	}
	if in.LivenessProbe != nil {
		out.LivenessProbe = r.probe(path+".livenessProbe", in.LivenessProbe, out.LivenessProbe)
	}
	for i, p := range in.Ports {
		out.Ports[i].Protocol = spell(p.Protocol, api.ProtocolTCP, api.ProtocolUDP)
	}
	for i, e := range in.Env {
		out.Env[i].Name = r.oldName(fmt.Sprintf("%s.env[%d]", path, i), "key", e.Key, "name", e.Name)
	}
	for i, m := range in.VolumeMounts {
		path, mount := fmt.Sprintf("%s.volumeMounts[%d]", path, i), &out.VolumeMounts[i]
		mount.MountPath = r.oldName(path, "path", m.Path, "mountPath", m.MountPath)
		if m.MountType != "" {
			r.mountType(path+".mountType", m.MountType, mount, pod)
		}
	}
}

// probe converts a probe, and returns nil if it is not enabled. Until v0.3 its type named the action.
func (r *reader) probe(path string, in *LivenessProbe, out *api.Probe) *api.Probe {
	if in.Enabled != nil && !*in.Enabled {
		return nil
	}
	types := map[string]bool{"": true, "http": in.HTTPGet != nil, "tcp": in.TCPSocket != nil, "exec": in.Exec != nil}
	if has, known := types[strings.ToLower(in.Type)]; !known {
		r.errs.Add(path+".type", "unsupported value '%s': %s", in.Type, api.Suggest(in.Type, types))
	} else if !has {
		r.errs.Add(path+".type", "the probe has no action of the type %s: remove type", in.Type)
	}
	return out
}

// spell returns the canonical spelling of a word that may be written in upper or lower case.
// It leaves an unknown word for validation to refuse.
func spell[Word ~string](word Word, known ...Word) Word {
	for _, k := range known {
		if strings.EqualFold(string(word), string(k)) {
			return k
		}
	}
	return word
}

// oldName returns the value of a field that had another name before. Both names may be given
// only if they agree.
func (r *reader) oldName(path, oldField, old, newField, value string) string {
	switch {
	case old == "":
		return value
	case r.version != Version:
		r.errs.Add(path+"."+oldField, "%s calls this field %q", r.version, newField)
	case value != "" && value != old:
		r.errs.Add(path+"."+oldField, "this is the old name of %q, and the two differ: remove %q", newField, oldField)
	}
	return old
}

// mountType checks a mount's old mountType against its volume, or adds the volume. Before volumes had sources (PR
// #527), "mountType: HOST" meant the host's directory at the same path as the mount, without an entry in volumes.
func (r *reader) mountType(path, mountType string, mount *api.VolumeMount, pod *api.ContainerManifest) {
	var hostDir *api.HostDir
	volume := pod.Mounted(mount)
	if volume != nil && volume.Source != nil {
		hostDir = volume.Source.HostDir
	}
	switch {
	case r.version != Version:
		r.errs.Add(path, "%s has no mountType: give the volume a source, such as hostDir", r.version)
	case mountType == "LOCAL" && hostDir == nil:
	case mountType == "LOCAL":
		r.errs.Add(path, "volume %q is a hostDir, which is not LOCAL: remove mountType", mount.Name)
	case mountType != "HOST":
		r.errs.Add(path, "unsupported value '%s': HOST or LOCAL", mountType)
	case mount.Name == "": // validation refuses it
	case volume == nil:
		source := &api.VolumeSource{HostDir: &api.HostDir{Path: mount.MountPath}}
		pod.Volumes = append(pod.Volumes, api.Volume{Name: mount.Name, Source: source})
	case hostDir == nil || hostDir.Path != mount.MountPath:
		r.errs.Add(path, "HOST means the host's directory %q, but volume %q is something else: remove mountType", mount.MountPath, mount.Name)
	}
}
