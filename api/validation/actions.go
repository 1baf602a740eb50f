package validation

import (
	"strconv"

	"kubelet14/api"
)

// validateProbe checks a liveness probe, which may be nil. In 2014 nobody did,
// and a probe without an action killed its container for ever.
func validateProbe(p *api.LivenessProbe, ports []api.Port) ErrorList {
	if p == nil {
		return nil
	}
	var errs ErrorList
	actions := 0
	if p.HTTPGet != nil {
		actions++
		validateActionPort(&errs, "httpGet.port", p.HTTPGet.Port, ports)
	}
	if p.TCPSocket != nil {
		actions++
		validateActionPort(&errs, "tcpSocket.port", p.TCPSocket.Port, ports)
	}
	if p.Exec != nil {
		actions++
		validateExec(&errs, p.Exec)
	}
	if actions != 1 {
		errs.add(Invalid, "", strconv.Itoa(actions)+" actions", "exactly 1 is required: httpGet, tcpSocket or exec")
	}
	if p.InitialDelaySeconds < 0 {
		errs.add(Invalid, "initialDelaySeconds", p.InitialDelaySeconds, "use 0 or more")
	}
	return errs
}

// validateHandler checks a hook, which may be nil. A hook's HTTP request goes to
// port 80 when it names none.
func validateHandler(h *api.Handler, ports []api.Port) ErrorList {
	if h == nil {
		return nil
	}
	var errs ErrorList
	actions := 0
	if h.Exec != nil {
		actions++
		validateExec(&errs, h.Exec)
	}
	if h.HTTPGet != nil {
		actions++
		if h.HTTPGet.Path == "" {
			errs.add(Required, "httpGet.path", "", "")
		}
		if h.HTTPGet.Port != (api.IntOrString{}) {
			validateActionPort(&errs, "httpGet.port", h.HTTPGet.Port, ports)
		}
	}
	if actions != 1 {
		errs.add(Invalid, "", strconv.Itoa(actions)+" actions", "exactly 1 is required: exec or httpGet")
	}
	return errs
}

func validateExec(errs *ErrorList, e *api.ExecAction) {
	if len(e.Command) == 0 {
		errs.add(Required, "exec.command", "", "")
	}
}

// validateActionPort checks a port of a probe or a hook: a number, a number in
// quotes, or the name of a port of the container.
func validateActionPort(errs *ErrorList, field string, port api.IntOrString, ports []api.Port) {
	if port == (api.IntOrString{}) {
		errs.add(Required, field, "", wantPort+", or the name of a port of this container")
		return
	}
	if port.Str == "" {
		if !isPort(port.Int) {
			errs.add(Invalid, field, port.Int, wantPort)
		}
		return
	}
	for i := range ports {
		if ports[i].Name == port.Str {
			return
		}
	}
	switch n, err := strconv.Atoi(port.Str); {
	case err != nil:
		errs.add(NotFound, field, port.Str, "this container has no port of this name")
	case !isPort(n):
		errs.add(Invalid, field, port.Str, wantPort)
	}
}
