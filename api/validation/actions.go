package validation

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"

	"kubelet14/api"
)

// validateProbe checks a probe, which may be nil. In 2014 a probe without an action killed its container over and over.
func validateProbe(c checker, p *api.Probe, ports []api.Port, maxSuccesses int64) {
	if p == nil {
		return
	}
	c.oneField("", *p, false, "exactly 1 action is required, such as httpGet, tcpSocket or exec")
	validateAction(c, p.Exec, p.HTTPGet, api.IntOrString{}, ports)
	if p.TCPSocket != nil {
		validateActionPort(c, "tcpSocket.port", p.TCPSocket.Port, ports)
	}
	if p.GRPC != nil {
		c.check(isPort(p.GRPC.Port), invalid, "grpc.port", p.GRPC.Port, wantPort)
	}
	c.count("initialDelaySeconds", p.InitialDelaySeconds)
	c.count("timeoutSeconds", p.TimeoutSeconds)
	c.count("periodSeconds", p.PeriodSeconds)
	c.count("failureThreshold", p.FailureThreshold)
	c.count("successThreshold", p.SuccessThreshold)
	c.check(p.SuccessThreshold <= maxSuccesses, invalid, "successThreshold", p.SuccessThreshold, "only a readinessProbe may have more than 1")
}

// count checks that a number is not negative, and not so large that as seconds it would overflow a time.Duration.
func (c checker) count(field string, n int64) {
	c.check(n >= 0 && n <= math.MaxInt32, invalid, field, n, "use 0 to 2147483647")
}

// validateHook checks a hook, which may be nil. Its HTTP request goes to port 80 by default.
func validateHook(c checker, h *api.Handler, ports []api.Port) {
	if h == nil {
		return
	}
	c.oneField("", *h, false, "exactly 1 action is required: exec or httpGet")
	validateAction(c, h.Exec, h.HTTPGet, api.IntOrString{Int: 80}, ports)
}

func validateAction(c checker, exec *api.ExecAction, get *api.HTTPGetAction, defaultPort api.IntOrString, ports []api.Port) {
	c.check(exec == nil || len(exec.Command) > 0, invalid, "exec.command", "", "")
	if get != nil {
		_, err := url.Parse("http://pod/" + get.Path)
		c.check(err == nil, invalid, "httpGet.path", get.Path, "this is not the path of a URL")
		validateActionPort(c, "httpGet.port", cmp.Or(get.Port, defaultPort), ports)
		scheme := get.Scheme == "" || get.Scheme == "HTTP" || get.Scheme == "HTTPS"
		c.check(scheme, unsupported, "httpGet.scheme", get.Scheme, "use HTTP or HTTPS")
		for i, h := range get.Headers {
			c.in("httpGet.httpHeaders[%d]", i).check(headerName.MatchString(h.Name), invalid, "name", h.Name, "use A-Z, a-z, 0-9 and '-'")
		}
	}
}

// validateActionPort checks a port, which may be a number, a number in quotes, or the name of a port of the container.
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
