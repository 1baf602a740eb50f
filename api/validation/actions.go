package validation

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"

	"kubelet14/api"
)

// validateProbe checks a liveness probe. In 2014 a probe without an action killed its container again and again.
func validateProbe(c checker, p *api.LivenessProbe, ports []api.Port) {
	c.oneField("", *p, false, "exactly 1 action is required: httpGet, tcpSocket or exec")
	validateAction(c, p.Exec, p.HTTPGet, api.IntOrString{}, ports)
	if p.TCPSocket != nil {
		validateActionPort(c, "tcpSocket.port", p.TCPSocket.Port, ports)
	}
	// More seconds would overflow a time.Duration.
	ok := p.InitialDelaySeconds >= 0 && p.InitialDelaySeconds <= math.MaxInt32
	c.check(ok, invalid, "initialDelaySeconds", p.InitialDelaySeconds, "use 0 to 2147483647")
}

// validateHook checks a hook, which may be nil. Its HTTP request goes to port 80 by default.
func validateHook(c checker, h *api.Handler, ports []api.Port) {
	if h == nil {
		return
	}
	c.oneField("", *h, false, "exactly 1 action is required: exec or httpGet")
	c.check(h.HTTPGet == nil || h.HTTPGet.Path != "", invalid, "httpGet.path", "", "")
	validateAction(c, h.Exec, h.HTTPGet, api.IntOrString{Int: 80}, ports)
}

func validateAction(c checker, exec *api.ExecAction, get *api.HTTPGetAction, defaultPort api.IntOrString, ports []api.Port) {
	c.check(exec == nil || len(exec.Command) > 0, invalid, "exec.command", "", "")
	if get != nil {
		_, err := url.Parse("http://pod/" + get.Path)
		c.check(err == nil, invalid, "httpGet.path", get.Path, "this is not the path of a URL")
		validateActionPort(c, "httpGet.port", cmp.Or(get.Port, defaultPort), ports)
	}
}

// validateActionPort checks a number, a number in quotes, or the name of a port of the container.
func validateActionPort(c checker, field string, port api.IntOrString, ports []api.Port) {
	number, err := strconv.Atoi(port.String())
	switch {
	case port == (api.IntOrString{}):
		c.check(false, invalid, field, "", wantPort+", or the name of a port of this container")
	case port.Str != "" && slices.ContainsFunc(ports, func(p api.Port) bool { return p.Name == port.Str }):
	case err != nil:
		c.check(false, notFound, field, port.Str, "this container has no port of this name")
	default:
		c.check(isPort(number), invalid, field, port, wantPort)
	}
}
