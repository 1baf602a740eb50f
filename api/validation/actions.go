package validation

import (
	"math"
	"net/url"
	"slices"
	"strconv"

	"kubelet14/api"
)

// validateProbe checks a liveness probe, which may be nil. In 2014 a probe without an action
// killed its container again and again.
func validateProbe(c checker, p *api.LivenessProbe, ports []api.Port) {
	if p == nil {
		return
	}
	c.exactlyOne("", *p, "action is required: httpGet, tcpSocket or exec")
	validateExec(c, p.Exec)
	if p.HTTPGet != nil {
		validateURLPath(c, p.HTTPGet.Path)
		validateActionPort(c, "httpGet.port", p.HTTPGet.Port, ports)
	}
	if p.TCPSocket != nil {
		validateActionPort(c, "tcpSocket.port", p.TCPSocket.Port, ports)
	}
	// More seconds would overflow a time.Duration.
	c.check(p.InitialDelaySeconds >= 0 && p.InitialDelaySeconds <= math.MaxInt32, invalid, "initialDelaySeconds", p.InitialDelaySeconds,
		"use 0 to 2147483647")
}

// validateHandler checks a hook, which may be nil. Its HTTP request goes to port 80 by default.
func validateHandler(c checker, h *api.Handler, ports []api.Port) {
	if h == nil {
		return
	}
	c.exactlyOne("", *h, "action is required: exec or httpGet")
	validateExec(c, h.Exec)
	if h.HTTPGet == nil {
		return
	}
	c.check(h.HTTPGet.Path != "", required, "httpGet.path", "", "")
	validateURLPath(c, h.HTTPGet.Path)
	if h.HTTPGet.Port != (api.IntOrString{}) {
		validateActionPort(c, "httpGet.port", h.HTTPGet.Port, ports)
	}
}

func validateURLPath(c checker, path string) {
	_, err := url.Parse("http://pod/" + path)
	c.check(err == nil, invalid, "httpGet.path", path, "this is not the path of a URL")
}

func validateExec(c checker, e *api.ExecAction) {
	c.check(e == nil || len(e.Command) > 0, required, "exec.command", "", "")
}

// validateActionPort checks a port of a probe or a hook: a number, a number in quotes, or the
// name of a port of the container.
func validateActionPort(c checker, field string, port api.IntOrString, ports []api.Port) {
	number, err := strconv.Atoi(port.String())
	switch {
	case port == (api.IntOrString{}):
		c.check(false, required, field, "", wantPort+", or the name of a port of this container")
	case port.Str != "" && slices.ContainsFunc(ports, func(p api.Port) bool { return p.Name == port.Str }):
	case err != nil:
		c.check(false, notFound, field, port.Str, "this container has no port of this name")
	default:
		c.check(isPort(number), invalid, field, port, wantPort)
	}
}
