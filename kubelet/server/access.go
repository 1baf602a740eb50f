package server

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/token"
)

// access is what a request may do over TCP. Each level includes those before it. A client of the unix socket may do everything.
type access int

const (
	anyone  access = iota // no token, even with TLS
	reading               // the token or the key with TLS; without it every user of this host
	logs                  // the token or the key: logs, all messages, which may quote them, and the live page
	running               // the token, or the proof of it that kubelet14's own words send
)

var securityHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff",
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cache-Control":                "no-store",
}

// checkRequest refuses requests with a foreign Host header, and requests made by pages of other origins.
func (s *Server) checkRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range securityHeaders {
			w.Header().Set(name, value)
		}
		w.Header().Set(token.InstanceHeader, s.instance)
		switch {
		case !s.allowedHost(r.Host):
			writeError(w, r, s.deny("host", http.StatusMisdirectedRequest,
				"the Host header %q is not an address of this kubelet: use localhost, the -hostname_override or a name of the certificate", r.Host))
		case crossOrigin(r):
			writeError(w, r, s.deny("origin", http.StatusForbidden, "a page of another origin may not use this kubelet"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// deny counts a refused request and returns its answer.
func (s *Server) deny(reason string, status int, format string, args ...any) error {
	s.opts.Metrics.refused.WithLabelValues(reason).Inc()
	return httpErrorf(status, format, args...)
}

// allowedHost reports whether a Host header names this kubelet. A foreign page whose name resolves to 127.0.0.1 sends its own name.
func (s *Server) allowedHost(header string) bool {
	host := strings.ToLower((&url.URL{Host: header}).Hostname())
	if host == "localhost" || host == s.opts.Hostname {
		return true
	}
	own, _ := netip.ParseAddr(s.opts.Address) // which may be written in another way
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsLoopback() || ip.Unmap() == own.Unmap()) && !ip.IsUnspecified() {
		return true
	}
	return s.certificate != nil && s.certificate.VerifyHostname(host) == nil
}

var crossOriginProtection = http.NewCrossOriginProtection()

// crossOrigin reports whether a page of another origin makes the request. Reads are checked as strictly as writes, but
// a link to the page is allowed.
func crossOrigin(r *http.Request) bool {
	isLink := r.Method == http.MethodGet && r.URL.Path == "/" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	post := &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: r.Header}
	return !isLink && crossOriginProtection.Check(post) != nil
}

// requireAccess passes a request to next if it has the access it needs.
func (s *Server) requireAccess(need access, next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.granted(r) < logs {
			w.Header().Set("Connection", "close") // they are limited, and others need some
		}
		err := s.checkAccess(r, need)
		if err == nil {
			err = next(w, r)
		}
		if err != nil {
			writeError(w, r, err)
		}
	}
}

func (s *Server) checkAccess(r *http.Request, need access) error {
	if s.granted(r) >= need {
		return nil
	}
	if bearer(r) != "" {
		return s.deny("token", http.StatusUnauthorized, "the token is wrong: the right one is in %s", s.opts.TokenFile)
	}
	return s.deny("token", http.StatusUnauthorized, "this needs the token in %[1]s; with curl: "+
		"sed 's/^/Authorization: Bearer /' %[1]s | curl -H @- URL (other users can see the arguments of a command); "+
		"to read logs in a browser: the link that kubelet14 -status prints with the same -address and -port, a new one after each start of the kubelet", s.opts.TokenFile)
}

// granted returns what a request may do.
func (s *Server) granted(r *http.Request) access {
	switch {
	case s.unix(), equal(s.token, bearer(r)), equal(s.runKey, bearer(r)):
		return running
	case equal(s.key, r.URL.Query().Get("key")):
		return logs
	case s.opts.TLS == nil:
		return reading
	}
	return anyone
}

// kubeletFor returns the kubelet as this client may see it.
func (s *Server) kubeletFor(r *http.Request) Kubelet {
	if s.granted(r) >= logs {
		return s.opts.Kubelet
	}
	return withoutMessages{s.opts.Kubelet}
}

// withoutMessages hides the messages of pods and events: many quote the output of a container.
type withoutMessages struct{ Kubelet }

const hiddenMessage = "(shown with the token)"

func hide(message *string) {
	if *message != "" {
		*message = hiddenMessage
	}
}

func (k withoutMessages) Statuses() ([]api.PodStatus, <-chan struct{}, error) {
	pods, newer, err := k.Kubelet.Statuses()
	for i := range pods {
		hide(&pods[i].Message)
		for _, c := range pods[i].Containers {
			hide(&cmp.Or(c.State.Waiting, new(api.ContainerStateWaiting)).Message)
			hide(&cmp.Or(c.State.Running, new(api.ContainerStateRunning)).Message)
			hide(&cmp.Or(c.State.Terminated, new(api.ContainerStateTerminated)).Message)
			hide(&cmp.Or(c.Last, new(api.ContainerStateTerminated)).Message)
		}
	}
	return pods, newer, err
}

func (k withoutMessages) Events(after uint64) []api.Event {
	events := k.Kubelet.Events(after)
	for i := range events {
		hide(&events[i].Message)
	}
	return events
}

// bearer returns the token that a request has, right or wrong, or "".
func bearer(r *http.Request) string {
	scheme, presented, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(presented)
}

// equal compares in constant time for values of equal length.
func equal(secret, presented string) bool {
	return subtle.ConstantTimeCompare([]byte(secret), []byte(presented)) == 1
}
