package api

import (
	"cmp"
	"strconv"
)

// ResolvePort returns the port number for a probe or a hook, which gives a number, a number
// in quotes, or the name of a port of the container; validation refuses anything else. In
// 2014 a name meant the host port, on which the pod's IP does not listen.
func ResolvePort(port IntOrString, ports []Port) int {
	for _, p := range ports {
		if p.Name == port.Str && p.Name != "" {
			return p.ContainerPort
		}
	}
	number, _ := strconv.Atoi(port.String())
	return number
}

// Resolve returns a hook whose port is a number, by default 80, so that it can run without the
// manifest. It returns nil for a nil hook.
func (h *Handler) Resolve(ports []Port) *Handler {
	if h == nil || h.HTTPGet == nil {
		return h
	}
	get := *h.HTTPGet
	get.Port = IntOrString{Int: ResolvePort(cmp.Or(get.Port, IntOrString{Int: 80}), ports)}
	return &Handler{HTTPGet: &get}
}
