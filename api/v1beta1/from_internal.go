package v1beta1

import "kubelet14/api"

// writeManifest converts an internal manifest. It can refuse nothing: the wire
// can say all that the internal types can. The old names are never written.
func writeManifest(version string, in *api.ContainerManifest) ContainerManifest {
	out := ContainerManifest{
		Version: version,
		ID:      in.ID,
		UUID:    in.UUID,
		RestartPolicy: RestartPolicy{
			Always:    (*RestartPolicyAlways)(in.RestartPolicy.Always),
			OnFailure: (*RestartPolicyOnFailure)(in.RestartPolicy.OnFailure),
			Never:     (*RestartPolicyNever)(in.RestartPolicy.Never),
		},
	}
	for _, v := range in.Volumes {
		out.Volumes = append(out.Volumes, Volume{Name: v.Name, Source: writeVolumeSource(v.Source)})
	}
	for i := range in.Containers {
		out.Containers = append(out.Containers, writeContainer(&in.Containers[i]))
	}
	return out
}

func writeVolumeSource(in *api.VolumeSource) *VolumeSource {
	if in == nil {
		return nil
	}
	return &VolumeSource{HostDir: (*HostDir)(in.HostDir), EmptyDir: (*EmptyDir)(in.EmptyDir)}
}

func writeContainer(in *api.Container) Container {
	out := Container{
		Name:                   in.Name,
		Image:                  in.Image,
		Command:                in.Command,
		WorkingDir:             in.WorkingDir,
		Memory:                 in.Memory,
		CPU:                    in.CPU,
		LivenessProbe:          writeProbe(in.LivenessProbe),
		TerminationMessagePath: in.TerminationMessagePath,
		Privileged:             in.Privileged,
		ImagePullPolicy:        in.ImagePullPolicy,
	}
	if in.Lifecycle != nil {
		out.Lifecycle = &Lifecycle{
			PostStart: writeHandler(in.Lifecycle.PostStart),
			PreStop:   writeHandler(in.Lifecycle.PreStop),
		}
	}
	for _, p := range in.Ports {
		out.Ports = append(out.Ports, Port(p))
	}
	for _, e := range in.Env {
		out.Env = append(out.Env, EnvVar{Name: e.Name, Value: e.Value})
	}
	for _, m := range in.VolumeMounts {
		out.VolumeMounts = append(out.VolumeMounts, VolumeMount{Name: m.Name, ReadOnly: m.ReadOnly, MountPath: m.MountPath})
	}
	return out
}

func writeProbe(in *api.LivenessProbe) *LivenessProbe {
	if in == nil {
		return nil
	}
	return &LivenessProbe{
		HTTPGet:             (*HTTPGetAction)(in.HTTPGet),
		TCPSocket:           (*TCPSocketAction)(in.TCPSocket),
		Exec:                (*ExecAction)(in.Exec),
		InitialDelaySeconds: in.InitialDelaySeconds,
	}
}

func writeHandler(in *api.Handler) *Handler {
	if in == nil {
		return nil
	}
	return &Handler{Exec: (*ExecAction)(in.Exec), HTTPGet: (*HTTPGetAction)(in.HTTPGet)}
}
