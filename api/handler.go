package api

import (
	"cmp"
	"strconv"
)

// ResolvePort returns the number of a port of a probe or a hook, which is a number, the
// name of a port of the container, or a number in quotes; validation refuses any other. In
// 2014 a name stood for the port of the host, where the pod's IP does not listen.
func ResolvePort(port IntOrString, ports []Port) int {
	for _, p := range ports {
		if p.Name == port.Str && p.Name != "" {
			return p.ContainerPort
		}
	}
	number, _ := strconv.Atoi(port.String())
	return number
}

// Resolve returns a hook whose port is a number, so that it can run without the manifest. The default
// is 80. No hook is nil.
func (h *Handler) Resolve(ports []Port) *Handler {
	if h == nil || h.HTTPGet == nil {
		return h
	}
	get := *h.HTTPGet
	get.Port = IntOrString{Int: ResolvePort(cmp.Or(get.Port, IntOrString{Int: 80}), ports)}
	return &Handler{HTTPGet: &get}
}
