package health

import (
	"fmt"
	"strconv"

	"kubelet14/api"
)

// defaultHTTPPort is where the HTTP request of a hook goes that names no port.
const defaultHTTPPort = 80

// ResolvePort gives the number that a port of a probe or a hook means: itself, that
// of the container's port of this name, or a number in quotes. In 2014 the name
// stood for the port of the host, where the pod's IP does not listen.
func ResolvePort(port api.IntOrString, ports []api.Port) (int, error) {
	number := port.Int
	if port.Str != "" {
		for _, p := range ports {
			if p.Name == port.Str {
				return p.ContainerPort, nil
			}
		}
		var err error
		if number, err = strconv.Atoi(port.Str); err != nil {
			return 0, fmt.Errorf("port %q: this container has no port of this name", port.Str)
		}
	}
	if number < 1 || number > 65535 {
		return 0, fmt.Errorf("port %q: it must be 1 to 65535", port)
	}
	return number, nil
}

// ResolveHandler gives a copy of a hook whose port is a number, so that it can run
// without the manifest. nil is no hook, and stays so.
func ResolveHandler(h *api.Handler, ports []api.Port) (*api.Handler, error) {
	if h == nil {
		return nil, nil
	}
	var resolved api.Handler
	api.Copy(&resolved, h)
	get := resolved.HTTPGet
	switch {
	case get == nil:
		return &resolved, nil
	case get.Port == api.IntOrString{}:
		get.Port.Int = defaultHTTPPort
	}
	number, err := ResolvePort(get.Port, ports)
	if err != nil {
		return nil, fmt.Errorf("httpGet: %w", err)
	}
	get.Port = api.IntOrString{Int: number}
	return &resolved, nil
}
