package health

import (
	"fmt"
	"strconv"

	"kubelet14/api"
)

// ResolvePort returns the number of a port of a probe or a hook, which is a number, the
// name of a port of the container, or a number in quotes. In 2014 a name stood for the
// port of the host, where the pod's IP does not listen.
func ResolvePort(port api.IntOrString, ports []api.Port) (int, error) {
	number := port.Int
	if port.Str != "" {
		for _, p := range ports {
			if p.Name == port.Str {
				return p.ContainerPort, nil
			}
		}
		number, _ = strconv.Atoi(port.Str)
	}
	if number < 1 || number > 65535 {
		return 0, fmt.Errorf("port %q: it must be 1 to 65535 or the name of a port of this container", port)
	}
	return number, nil
}

// ResolveHandler returns a hook whose port is a number, so that it can run without the
// manifest. The default is 80. No hook is nil.
func ResolveHandler(h *api.Handler, ports []api.Port) (*api.Handler, error) {
	if h == nil || h.HTTPGet == nil {
		return h, nil
	}
	get := *h.HTTPGet
	if get.Port == (api.IntOrString{}) {
		get.Port.Int = 80
	}
	number, err := ResolvePort(get.Port, ports)
	if err != nil {
		return nil, fmt.Errorf("httpGet: %w", err)
	}
	get.Port = api.IntOrString{Int: number}
	return &api.Handler{Exec: h.Exec, HTTPGet: &get}, nil
}
