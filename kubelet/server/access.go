package server

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// access says what a request must show to be let in, on a listener with TCP. Who can
// open a unix socket may do all.
type access int

const (
	anyone  access = iota // no token even with TLS
	reading               // the token with TLS; on a loopback address every user of the host
	logs                  // the token, or the page's cookie
	running               // the token, and not by a cookie: a browser sends those by itself
)

// guard lets those requests through that come from where they may, whatever they ask.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		leaveBody(w, r)
		switch {
		case !s.knowsHost(r.Host):
			fail(w, r, s.deny("host", http.StatusMisdirectedRequest, "the Host header %q names no address of this kubelet: use localhost, the -hostname_override or a name of the certificate", r.Host))
		case foreign(r):
			fail(w, r, s.deny("origin", http.StatusForbidden, "a page of another origin may not ask this kubelet"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// leaveBody lets the client send what is on its way of a body, and acceptBody takes that
// back, for a handler that reads it. Otherwise net/http would wait for the rest of a body
// that nobody reads, and the connection would be busy meanwhile.
func leaveBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
		setReadDeadline(w, time.Now().Add(leaveBodyTimeout))
	}
}

func acceptBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // without a body the deadline would be taken for the end of the client
		w.Header().Del("Connection")
		setReadDeadline(w, time.Now().Add(readTimeout))
	}
}

// setReadDeadline does nothing to a writer that has no deadlines: it has no client that
// could be slow.
func setReadDeadline(w http.ResponseWriter, at time.Time) {
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// deny is the answer to a request that is not let in. It is counted.
func (s *Server) deny(why string, status int, format string, args ...any) error {
	s.metrics.refused.WithLabelValues(why).Inc()
	return refuse(status, format, args...)
}

// knowsHost says that a Host header names this kubelet. A browser fills it in from the
// address it was given, so a page whose own name was made to lead to 127.0.0.1 shows
// itself there.
func (s *Server) knowsHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil { // it has no port
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	host = strings.ToLower(host)
	if host == "localhost" || slices.Contains(s.opts.Hostnames, host) {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil && (ip.IsLoopback() || host == s.opts.Address) && !ip.IsUnspecified() {
		return true
	}
	return s.certificate != nil && s.certificate.VerifyHostname(host) == nil
}

// crossOrigin is the standard library's rule for requests that change something. Here
// it is for all: what is only read tells a good deal too.
var crossOrigin = http.NewCrossOriginProtection()

// foreign says that a browser makes the request for a page of another origin. A link
// from elsewhere to the page is none.
func foreign(r *http.Request) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != scheme+r.Host {
		return true
	}
	asIfItChanged := &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: r.Header}
	return crossOrigin.Check(asIfItChanged) != nil && !isLink(r)
}

// isLink says that a browser asks for the page to show it in a window of its own, where
// what led there cannot look.
func isLink(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// allow lets those through who may do what a route does.
func (s *Server) allow(need access, next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := s.check(w, r, need)
		if err == nil {
			err = next(w, r)
		}
		if err != nil {
			fail(w, r, err)
		}
	}
}

// check refuses who may not do what needs so much.
func (s *Server) check(w http.ResponseWriter, r *http.Request, need access) error {
	has, given := s.has(r)
	if has >= need {
		return nil
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="kubelet14"`)
	if given {
		return s.deny("token", http.StatusUnauthorized, "the token is another one: it is in %s", s.opts.TokenFile)
	}
	return s.deny("token", http.StatusUnauthorized, "this needs the token in %s: sed 's/^/Authorization: Bearer /' %[1]s | curl -H @- URL (a header on the command line is for every user to see), or for logs in a browser the page's address with /?token= and the token behind it", s.opts.TokenFile)
}

// has says what a request may do, and whether it gave a token.
func (s *Server) has(r *http.Request) (has access, given bool) {
	if s.unix() {
		return running, false
	}
	if s.opts.TLS == nil {
		has = reading
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given = strings.EqualFold(kind, "Bearer")
	if given && s.token.is(strings.TrimSpace(token)) {
		return running, true
	}
	if cookie, err := r.Cookie(cookieName); err == nil && s.token.isCookie(cookie.Value) {
		has = logs
	}
	return has, given
}
