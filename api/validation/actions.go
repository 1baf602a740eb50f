package validation

import (
	"math"
	"net/url"
	"slices"
	"strconv"

	"kubelet14/api"
)

// validateProbe checks a liveness probe, which may be nil. In 2014 nobody did,
// and a probe without an action killed its container for ever.
func validateProbe(p *api.LivenessProbe, ports []api.Port) api.FieldErrors {
	if p == nil {
		return nil
	}
	var errs api.FieldErrors
	validateExec(&errs, p.Exec)
	if p.HTTPGet != nil {
		validateURLPath(&errs, p.HTTPGet.Path)
		validateActionPort(&errs, "httpGet.port", p.HTTPGet.Port, ports)
	}
	if p.TCPSocket != nil {
		validateActionPort(&errs, "tcpSocket.port", p.TCPSocket.Port, ports)
	}
	if n := len(given(*p)); n != 1 {
		add(&errs, Invalid, "", strconv.Itoa(n)+" actions", "exactly 1 is required: httpGet, tcpSocket or exec")
	}
	// More seconds would not fit into a time.Duration, and come out as none at all.
	if p.InitialDelaySeconds < 0 || p.InitialDelaySeconds > math.MaxInt32 {
		add(&errs, Invalid, "initialDelaySeconds", p.InitialDelaySeconds, "use 0 to %d", math.MaxInt32)
	}
	return errs
}

// validateHandler checks a hook, which may be nil. A hook's HTTP request goes to
// port 80 when it names none.
func validateHandler(h *api.Handler, ports []api.Port) api.FieldErrors {
	if h == nil {
		return nil
	}
	var errs api.FieldErrors
	validateExec(&errs, h.Exec)
	if h.HTTPGet != nil && h.HTTPGet.Path == "" {
		add(&errs, Required, "httpGet.path", "", "")
	} else if h.HTTPGet != nil {
		validateURLPath(&errs, h.HTTPGet.Path)
	}
	if h.HTTPGet != nil && h.HTTPGet.Port != (api.IntOrString{}) {
		validateActionPort(&errs, "httpGet.port", h.HTTPGet.Port, ports)
	}
	if n := len(given(*h)); n != 1 {
		add(&errs, Invalid, "", strconv.Itoa(n)+" actions", "exactly 1 is required: exec or httpGet")
	}
	return errs
}

func validateURLPath(errs *api.FieldErrors, path string) {
	if _, err := url.Parse("http://pod/" + path); err != nil {
		add(errs, Invalid, "httpGet.path", path, "it is no path of a URL")
	}
}

func validateExec(errs *api.FieldErrors, e *api.ExecAction) {
	if e != nil && len(e.Command) == 0 {
		add(errs, Required, "exec.command", "", "")
	}
}

// validateActionPort checks a port of a probe or a hook: a number, a number in
// quotes, or the name of a port of the container.
func validateActionPort(errs *api.FieldErrors, field string, port api.IntOrString, ports []api.Port) {
	number, err := strconv.Atoi(port.String())
	switch {
	case port == (api.IntOrString{}):
		add(errs, Required, field, "", wantPort+", or the name of a port of this container")
	case port.Str != "" && slices.ContainsFunc(ports, func(p api.Port) bool { return p.Name == port.Str }):
	case err != nil:
		add(errs, NotFound, field, port.Str, "this container has no port of this name")
	case !isPort(number):
		add(errs, Invalid, field, port, wantPort)
	}
}
