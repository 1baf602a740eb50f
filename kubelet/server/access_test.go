package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kubelet14/api"
)

// logFile has a name that glog gives.
const logFile = "kubelet14.host.user.log.INFO.20141023-120000.17"

// everyRoute is what must be shown for each route, with a request to it that is good.
var everyRoute = []struct {
	route, request string
	need           access
}{
	{"GET /healthz", "GET /healthz", anyone},
	{"GET /{$}", "GET /", reading},
	{"GET /static/{file}", "GET /static/page.css", reading},
	{"GET /stream", "HEAD /stream", reading},
	{"GET /podInfo", "GET /podInfo?podID=web&podNamespace=default", reading},
	{"GET /boundPods", "GET /boundPods", reading},
	{"GET /boundPods", "GET /boundPods?env=1", running},
	{"GET /status", "GET /status", reading},
	{"GET /pods", "GET /pods", reading},
	{"GET /pods", "HEAD /pods", reading},
	{"GET /sources", "GET /sources", reading},
	{"GET /events", "GET /events", reading},
	{"GET /metrics", "GET /metrics", reading},
	{"GET /spec/{$}", "GET /spec/", reading},
	{"GET /stats/{$}", "GET /stats/", reading},
	{"GET /stats/{pod}/{container}", "GET /stats/web/c", reading},
	{"GET /stats/{namespace}/{pod}/{uid}/{container}", "GET /stats/default/web/u1/c", reading},
	{"GET /containerLogs/{namespace}/{pod}/{container}", "GET /containerLogs/default/web/c", logs},
	{"GET /logs/{$}", "GET /logs/", logs},
	{"GET /logs/{file}", "GET /logs/" + logFile, logs},
	{"POST /run/{namespace}/{pod}/{container}", "POST /run/default/web/c?cmd=id", running},
	{"POST /run/{namespace}/{pod}/{uid}/{container}", "POST /run/default/web/u1/c?cmd=id", running},
}

func TestEveryRouteIsInTheTableOfAccess(t *testing.T) {
	code, err := os.ReadFile("server.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range everyRoute {
		known[r.route] = true
	}
	routes := regexp.MustCompile(`add\("([^"]+)"`).FindAllStringSubmatch(string(code), -1)
	for _, route := range routes {
		if !known[route[1]] {
			t.Errorf("%q is not in the table: who may ask it?", route[1])
		}
	}
	if len(routes) < 10 {
		t.Errorf("only %d routes are found in server.go", len(routes))
	}
}

// fullKubelet has an answer on every route. It counts the commands that it runs and the
// logs that it gives out.
func fullKubelet(t testing.TB) (k *fakeKubelet, used *atomic.Int64, options func(*Options)) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, logFile), "a line of the log\n", 0o644)
	used = new(atomic.Int64)
	k = &fakeKubelet{statuses: []api.PodStatus{{
		Name: "web", Namespace: "default", UID: "u1", Source: "file", Phase: api.PodRunning,
		Containers: []api.ContainerStatus{{Name: "c", State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: noon}}}},
	}}}
	k.run = func(context.Context, string, string, []string, io.Writer) (int, error) {
		used.Add(1)
		return 0, nil
	}
	k.logs = func(_ context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		used.Add(1)
		_, err := io.WriteString(out, "a line\n")
		return err
	}
	return k, used, func(o *Options) { o.LogDir = dir }
}

// shown is what a client may show, and what that lets it do over TCP without TLS.
var shown = []struct {
	name string
	set  func(*http.Request)
	has  access
}{
	{"nothing", nil, reading},
	{"the token", withToken, running},
	{"the token, as bearer", with("Authorization", "bearer  "+testToken), running},
	{"the token by another scheme", with("Authorization", "Basic "+testToken), reading},
	{"the token without a scheme", with("Authorization", testToken), reading},
	{"the token in another header", with("X-Token", testToken), reading},
	{"another token", with("Authorization", "Bearer another-token-1234"), reading},
	{"the beginning of the token", with("Authorization", "Bearer "+testToken[:len(testToken)-1]), reading},
	{"more than the token", with("Authorization", "Bearer "+testToken+"0"), reading},
	{"an empty token", with("Authorization", "Bearer "), reading},
	{"the cookie", withCookie(testToken), logs},
	{"the cookie of another token", withCookie("another-token-1234"), reading},
	{"the cookie of no token", withCookie(""), reading},
	{"the token as cookie", with("Cookie", cookieName+"="+testToken), reading},
	{"the cookie as token", with("Authorization", "Bearer "+token(testToken).cookie()), reading},
	{"the cookie and another token", func(r *http.Request) {
		withCookie(testToken)(r)
		with("Authorization", "Bearer another-token-1234")(r)
	}, logs},
}

func TestWhoMayDoWhat(t *testing.T) {
	certFile, tls := withTLS(t)
	for name, tt := range map[string]struct {
		listen   func(*Options)
		certFile string
		has      func(access) access // what it is here to have so much over TCP
	}{
		"loopback": {func(*Options) {}, "", func(has access) access { return has }},
		"TLS": {tls, certFile, func(has access) access {
			if has == reading {
				return anyone
			}
			return has
		}},
		"socket": {onSocket(t), "", func(access) access { return running }},
	} {
		t.Run(name, func(t *testing.T) {
			k, used, options := fullKubelet(t)
			d := doorOf(t, serve(t, k, options, tt.listen), tt.certFile)
			refused := 0
			for _, client := range shown {
				for _, route := range everyRoute {
					before := used.Load()
					got := d.ask(t, route.request, client.set)
					if tt.has(client.has) >= route.need {
						if got.status != http.StatusOK && route.request != "GET /status" {
							t.Errorf("%s with %s: refused with %d %s", route.request, client.name, got.status, got.body)
						}
						continue
					}
					refused++
					if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer ") ||
						!strings.HasPrefix(route.request, "HEAD") && !got.says("/root-dir/token") {
						t.Errorf("%s with %s: it answers %d %s, want 401 and where the token is", route.request, client.name, got.status, got.body)
					}
					if used.Load() != before {
						t.Errorf("%s with %s: it was refused and done all the same", route.request, client.name)
					}
				}
			}
			if got := d.refusals(t, "token"); got != refused {
				t.Errorf("%d refusals were counted of %d", got, refused)
			}
		})
	}
}

func TestWithoutDebuggingHandlersThereAreNone(t *testing.T) {
	k, used, options := fullKubelet(t)
	s := serve(t, k, options, func(o *Options) { o.Debugging = false })
	for _, route := range everyRoute {
		if route.need < logs || strings.Contains(route.request, "env=1") {
			continue
		}
		if got := ask(t, s, route.request, withToken); got.status != http.StatusNotFound {
			t.Errorf("%s: it answers %d %s", route.request, got.status, got.body)
		}
	}
	if used.Load() > 0 {
		t.Errorf("%d have been served", used.Load())
	}
}

func TestEveryAnswerForbidsWhatAPageCouldDoWithIt(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for name, got := range map[string]reply{
		"good":           ask(t, s, "GET /pods"),
		"missing":        ask(t, s, "GET /nothing"),
		"wrong method":   ask(t, s, "POST /pods"),
		"refused":        ask(t, s, "POST /run/default/web/c?cmd=id"),
		"foreign host":   ask(t, s, "GET /pods", with("Host", "evil.example")),
		"foreign origin": ask(t, s, "GET /pods", with("Origin", "http://evil.example")),
	} {
		h := got.header
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: its header is %v", name, h)
		}
	}
}

// statusOf asks with a Host header of any form, which http.Client would not send.
func statusOf(t *testing.T, d *door, text string) int {
	t.Helper()
	conn, err := d.transport.DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestHostHeaderMustNameThisKubelet(t *testing.T) {
	d := doorOf(t, serve(t, &fakeKubelet{}), "")
	for _, host := range []string{
		"localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "[::1]", "test-host", "Test-Host",
	} {
		for _, port := range []string{"", ":10250", ":1"} {
			if got := statusOf(t, d, "GET /pods HTTP/1.1\r\nHost: "+host+port+"\r\n\r\n"); got != http.StatusOK {
				t.Errorf("%s%s: it answers %d", host, port, got)
			}
		}
	}
	for _, host := range []string{
		"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example.localhost", "test-host.evil.example",
		"0.0.0.0", "[::]", "0", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.000.000.001", "10.0.0.1", "[fe80::1]",
		"localhost.", "localhost:80:80", "user@localhost", "localhost, evil.example", "a b", "[", "]", "[]", ":", "", ":10250",
	} {
		if got := statusOf(t, d, "GET /pods HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); got != http.StatusMisdirectedRequest && got != http.StatusBadRequest {
			t.Errorf("%q: it answers %d", host, got)
		}
	}
	for text, want := range map[string]int{
		"GET /pods HTTP/1.0\r\n\r\n":                                          http.StatusMisdirectedRequest,
		"GET /pods HTTP/1.1\r\n\r\n":                                          http.StatusBadRequest,
		"GET /pods HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n": http.StatusBadRequest,
		"GET http://evil.example/pods HTTP/1.1\r\nHost: localhost\r\n\r\n":    http.StatusMisdirectedRequest,
	} {
		if got := statusOf(t, d, text); got != want {
			t.Errorf("%q: it answers %d, want %d", text, got, want)
		}
	}
	got := ask(t, d.Server, "GET /pods", with("Host", "evil.example"), withToken)
	if got.status != http.StatusMisdirectedRequest || !got.says(`"evil.example"`) || !got.says("-hostname_override") {
		t.Errorf("it answers %d %s", got.status, got.body)
	}
	if n := d.refusals(t, "host"); n < 20 {
		t.Errorf("only %d were counted", n)
	}
}

func TestHostHeaderMayHaveANameOfTheCertificate(t *testing.T) {
	certFile, tls := withTLS(t, "kubelet.example", "*.nodes.example")
	d := doorOf(t, serve(t, &fakeKubelet{}, tls), certFile)
	for host, want := range map[string]int{
		"kubelet.example": 200, "kubelet.example:10250": 200, "a.nodes.example": 200, "localhost": 200, "test-host": 200,
		"evil.example": 421, "nodes.example": 421, "a.b.nodes.example": 421, "0.0.0.0": 421,
	} {
		if got := d.ask(t, "GET /pods", with("Host", host), withToken); got.status != want {
			t.Errorf("%s: it answers %d, want %d", host, got.status, want)
		}
	}
}

func TestHostHeaderMayHaveTheAddressOfTheListener(t *testing.T) {
	for _, tt := range []struct {
		address, host string
		want          bool
	}{
		{"10.0.0.5", "10.0.0.5", true}, {"10.0.0.5", "10.0.0.5:10250", true}, {"2001:db8::5", "[2001:db8::5]:10250", true},
		{"10.0.0.5", "10.0.0.6", false}, {"0.0.0.0", "0.0.0.0", false}, {"::", "[::]", false}, {"unix:/s", "unix:/s", false},
	} {
		s := &Server{opts: Options{Address: tt.address}}
		if got := s.allowedHost(tt.host); got != tt.want {
			t.Errorf("listening on %s it knows %s: %v, want %v", tt.address, tt.host, got, tt.want)
		}
	}
}

// headers sets several of a browser's.
func headers(h map[string]string) func(*http.Request) {
	return func(r *http.Request) {
		for name, value := range h {
			with(name, value)(r)
		}
	}
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	type h = map[string]string
	certFile, tls := withTLS(t)
	for name, tt := range map[string]struct {
		listen                  func(*Options)
		certFile, scheme, other string
	}{
		"without TLS": {func(*Options) {}, "", "http", "https"},
		"with TLS":    {tls, certFile, "https", "http"},
	} {
		k, used, options := fullKubelet(t)
		d := doorOf(t, serve(t, k, options, tt.listen), tt.certFile)
		const host = "localhost:10250"
		for _, set := range []struct {
			h    h
			fine bool
		}{
			{h{}, true}, // no browser, or an old one
			{h{"Origin": tt.scheme + "://" + host}, true},
			{h{"Origin": tt.scheme + "://" + host, "Sec-Fetch-Site": "same-origin"}, true},
			{h{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, true},
			{h{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, true}, // typed in
			{h{"Origin": "http://evil.example"}, false},
			{h{"Origin": "null"}, false},
			{h{"Origin": tt.other + "://" + host}, false},
			{h{"Origin": tt.scheme + "://localhost:8080"}, false},
			{h{"Origin": tt.scheme + "://localhost"}, false},
			{h{"Origin": tt.scheme + "://127.0.0.1:10250"}, false},
			{h{"Origin": tt.scheme + "://" + host + ".evil.example"}, false},
			{h{"Origin": tt.scheme + "://evil.example@" + host}, false},
			{h{"Origin": "://"}, false},
			{h{"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, false},
			{h{"Sec-Fetch-Site": "cross-site"}, false},
			{h{"Sec-Fetch-Site": "same-site"}, false}, // another port of localhost
			{h{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, false},
			{h{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, false},
			{h{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, false}, // no link leads to these
			{h{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, false},
		} {
			for _, request := range []string{"GET /pods", "HEAD /pods", "GET /healthz", "GET /metrics", "GET /containerLogs/default/web/c", "POST /run/default/web/c?cmd=id"} {
				before := used.Load()
				got := d.ask(t, request, with("Host", host), withToken, headers(set.h))
				switch {
				case set.fine && got.status != http.StatusOK:
					t.Errorf("%s: %s %v: it answers %d %s", name, request, set.h, got.status, got.body)
				case !set.fine && (got.status != http.StatusForbidden || used.Load() != before):
					t.Errorf("%s: %s %v: it answers %d %s", name, request, set.h, got.status, got.body)
				case !set.fine && !strings.HasPrefix(request, "HEAD") && !got.says("another origin"):
					t.Errorf("%s: %s %v: it says %q", name, request, set.h, got.body)
				}
			}
		}
	}
}

func TestALinkFromElsewhereLeadsToThePage(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	link := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	frame := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
	script := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
	for _, tt := range []struct {
		request string
		headers map[string]string
		want    int
	}{
		{"GET /", link, 200}, {"GET /?token=" + testToken, link, 303},
		{"GET /", frame, 403}, {"GET /", script, 403}, {"POST /", link, 403}, {"GET /pods", link, 403}, {"GET //", link, 403},
	} {
		if got := ask(t, s, tt.request, headers(tt.headers)); got.status != tt.want {
			t.Errorf("%s %v: it answers %d, want %d", tt.request, tt.headers, got.status, tt.want)
		}
	}
}

func TestWrongMethods(t *testing.T) {
	k, used, options := fullKubelet(t)
	s := serve(t, k, options)
	for _, route := range everyRoute {
		_, path, _ := strings.Cut(route.request, " ")
		allowed := "GET, HEAD"
		if strings.HasPrefix(route.route, "POST") {
			allowed = "POST"
		}
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE"} {
			if strings.Contains(allowed, method) {
				continue
			}
			got := ask(t, s, fmt.Sprint(method, " ", path), withToken)
			if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != allowed {
				t.Errorf("%s %s: it answers %d, and allows %q", method, path, got.status, got.header.Get("Allow"))
			}
		}
	}
	if used.Load() > 0 {
		t.Errorf("%d have been served", used.Load())
	}
}
