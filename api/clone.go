package api

import "slices"

// Clone gives a copy that shares no memory with m.
func (m *ContainerManifest) Clone() ContainerManifest {
	out := *m
	out.Volumes = slices.Clone(m.Volumes)
	for i := range out.Volumes {
		out.Volumes[i].Source = cloneVolumeSource(out.Volumes[i].Source)
	}
	out.Containers = slices.Clone(m.Containers)
	for i := range out.Containers {
		cloneInsides(&out.Containers[i])
	}
	out.RestartPolicy = RestartPolicy{
		Always:    clonePointer(m.RestartPolicy.Always),
		OnFailure: clonePointer(m.RestartPolicy.OnFailure),
		Never:     clonePointer(m.RestartPolicy.Never),
	}
	return out
}

func cloneVolumeSource(s *VolumeSource) *VolumeSource {
	if s == nil {
		return nil
	}
	return &VolumeSource{HostDir: clonePointer(s.HostDir), EmptyDir: clonePointer(s.EmptyDir)}
}

// cloneInsides gives c, a shallow copy, memory of its own.
func cloneInsides(c *Container) {
	c.Command = slices.Clone(c.Command)
	c.Ports = slices.Clone(c.Ports)
	c.Env = slices.Clone(c.Env)
	c.VolumeMounts = slices.Clone(c.VolumeMounts)
	if p := clonePointer(c.LivenessProbe); p != nil {
		p.HTTPGet, p.TCPSocket, p.Exec = clonePointer(p.HTTPGet), clonePointer(p.TCPSocket), cloneExec(p.Exec)
		c.LivenessProbe = p
	}
	if l := clonePointer(c.Lifecycle); l != nil {
		l.PostStart, l.PreStop = cloneHandler(l.PostStart), cloneHandler(l.PreStop)
		c.Lifecycle = l
	}
}

func cloneHandler(h *Handler) *Handler {
	if h == nil {
		return nil
	}
	return &Handler{Exec: cloneExec(h.Exec), HTTPGet: clonePointer(h.HTTPGet)}
}

func cloneExec(e *ExecAction) *ExecAction {
	if e == nil {
		return nil
	}
	return &ExecAction{Command: slices.Clone(e.Command)}
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
