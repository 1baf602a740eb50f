package server

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/token"
	"kubelet14/kubelet/trace"
)

// logFile has a name that glog gives.
const logFile = "kubelet14.host.user.log.INFO.20141023-120000.17"

// everyRoute is the access that each route needs, with a good request.
var everyRoute = []struct {
	route, request string
	need           access
}{
	{"GET /healthz", "GET /healthz", anyone},
	{"GET /{$}", "GET /", reading},
	{"GET /changes/{number}", "GET /changes/1", logs},
	{"POST /step", "POST /step", logs},   // without a body
	{"POST /break", "POST /break", logs}, // without a body
	{"GET /static/{file}", "GET /static/page.css", anyone},
	{"GET /source/{file...}", "GET /source/doc.go", anyone},
	{"GET /stream", "HEAD /stream", logs},
	{"GET /status", "GET /status", reading},
	{"GET /podInfo", "GET /podInfo?podID=web&podNamespace=default", reading},
	{"GET /boundPods", "GET /boundPods", reading},
	{"GET /boundPods", "GET /boundPods?env=1", running},
	{"GET /pods", "GET /pods", reading},
	{"GET /pods", "HEAD /pods", reading},
	{"GET /sources", "GET /sources", reading},
	{"GET /node", "GET /node", reading},
	{"GET /events", "GET /events", reading},
	{"GET /metrics", "GET /metrics", reading},
	{"GET /spec/{$}", "GET /spec/", reading},
	{"/stats/{$}", "GET /stats/", reading},
	{"/stats/{pod}/{container}", "POST /stats/web/app", reading},
	{"/stats/{namespace}/{pod}/{uid}/{container}", "GET /stats/default/web/web-uid/app", reading},
	{"GET /containerLogs/{namespace}/{pod}/{container}", "GET /containerLogs/default/web/app", logs},
	{"GET /containerLogs/{pod}/{container}", "GET /containerLogs/web/app", logs},
	{"GET /logs/{$}", "GET /logs/", logs},
	{"GET /logs/{$}", "HEAD /logs/?query=a", logs},
	{"GET /logs/{file}", "GET /logs/" + logFile, logs},
	{"POST /stop/{pod}", "POST /stop/web?by=ada", running},
	{"POST /start/{pod}", "POST /start/web", running},
	{"POST /restart/{pod}", "POST /restart/web", running},
	{"POST /exec/{pod}/{container}", "POST /exec/web/app?cmd=id", running}, // without an upgrade
	{"POST /run/{pod}/{container}", "POST /run/web/app?cmd=id", running},
	{"POST /run/{namespace}/{pod}/{container}", "POST /run/default/web/app?cmd=id", running},
	{"POST /run/{namespace}/{pod}/{uid}/{container}", "POST /run/default/web/web-uid/app?cmd=id", running},
}

func TestEveryRouteIsInTheTableOfAccess(t *testing.T) {
	code, err := os.ReadFile("server.go")
	routes := regexp.MustCompile(`add\("([^"]+)"`).FindAllStringSubmatch(string(code), -1)
	if err != nil || len(routes) < 20 {
		t.Errorf("only %d routes are found in server.go: %v", len(routes), err)
	}
	for _, route := range routes {
		if !strings.Contains(fmt.Sprint(everyRoute), "{"+route[1]+" ") {
			t.Errorf("%q is not in the table", route[1])
		}
	}
}

// withEverything is a kubelet and options with a good answer on every route.
func withEverything(t testing.TB) (*fakeKubelet, func(*Options)) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, logFile), "a line of the log\n", 0o644)
	k := withContainers()
	k.sources = []api.SourceStatus{{Source: "file", LastSuccess: noon}}
	return k, func(o *Options) {
		k.fulfil(t, o)
		o.LogDir, o.LogUnits, o.Trace, o.Step = dir, "a", traceOf("", "web.default.file"), &step.Stepper{}
	}
}

func TestAccess(t *testing.T) {
	type client struct {
		name    string
		set     func(*http.Request)
		granted access // over TCP without TLS
	}
	clients := []client{
		{"nothing", with(), reading},
		{"the token", withToken, running},
		{"the token, as bearer", with("Authorization", "bearer  "+testToken), running},
		{"the token by another scheme", with("Authorization", "Basic "+testToken), reading},
		{"another token", with("Authorization", "Bearer another-token-1234"), reading},
		{"the beginning of the token", with("Authorization", "Bearer "+testToken[:len(testToken)-1]), reading},
		{"more than the token", with("Authorization", "Bearer "+testToken+"0"), reading},
		{"an empty token", with("Authorization", "Bearer "), reading},
		{"the token in the address", withKey(testToken), reading},
		{"an empty key", withKey(""), reading},
	}
	withKeys := func(s *testServer) []client {
		return []client{
			{"the key", withKey(s.key), logs},
			{"the key of another start", withKey(token.Key(testToken, "another", s.opts.Address, s.opts.Port)), reading},
			{"the key of another token", withKey(token.Key("another-token-1234", s.instance, s.opts.Address, s.opts.Port)), reading},
			{"the key of no token", withKey(token.Key("", s.instance, s.opts.Address, s.opts.Port)), reading},
			{"the key of another port", withKey(token.Key(testToken, s.instance, s.opts.Address, s.opts.Port+1)), reading},
			{"the key of another address", withKey(token.Key(testToken, s.instance, "127.0.0.9", s.opts.Port)), reading},
			{"the beginning of the key", withKey(s.key[1:]), reading},
			{"the key as token", with("Authorization", "Bearer "+s.key), reading},
			{"the proof of the token", with("Authorization", "Bearer "+token.RunKey(testToken, s.instance, s.opts.Address, s.opts.Port)), running},
			{"the proof in the address", withKey(s.runKey), reading},
			{"the proof for another start", with("Authorization", "Bearer "+token.RunKey(testToken, "another", s.opts.Address, s.opts.Port)), reading},
			{"the proof of no token", with("Authorization", "Bearer "+token.RunKey("", s.instance, s.opts.Address, s.opts.Port)), reading},
			{"the key as cookie", with("Cookie", "key="+s.key), reading}, // browsers send it to every port of a host
		}
	}
	for name, tt := range map[string]struct {
		listen  func(*Options)
		granted func(access) access // grants that much over TCP
	}{
		"loopback": {func(*Options) {}, func(granted access) access { return granted }},
		"TLS": {withTLS(t), func(granted access) access {
			return map[access]access{reading: anyone, logs: logs, running: running}[granted]
		}},
		"socket": {onSocket(t), func(access) access { return running }},
		"no token": {func(o *Options) { o.Token = "" }, func(granted access) access {
			return map[access]access{reading: reading, logs: logs, running: reading}[granted]
		}},
	} {
		k, options := withEverything(t)
		s := serve(t, k, options, tt.listen)
		refused := 0
		for _, client := range append(withKeys(s), clients...) {
			for _, route := range everyRoute {
				before := k.usedTimes()
				got := s.ask(t, route.request, client.set)
				good := got.status == http.StatusOK || slices.Contains([]string{"POST /step", "POST /break"}, route.route) && got.status == http.StatusBadRequest ||
					strings.HasPrefix(route.route, "POST /exec") && got.status == http.StatusUpgradeRequired
				if tt.granted(client.granted) < route.need {
					refused++
					good = got.status == http.StatusUnauthorized && strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer ") &&
						(strings.HasPrefix(route.request, "HEAD") || got.isOneLine("/root-dir/token")) && k.usedTimes() == before
				}
				if !good {
					t.Errorf("%s: %s with %s: it answers %d %s", name, route.request, client.name, got.status, got.body)
				}
			}
		}
		s.counts(t, "token", refused)
	}
	if got := serve(t, withContainers()).ask(t, runIn+"web/app?cmd=id&token="+testToken); got.status != http.StatusUnauthorized {
		t.Errorf("with the token as a parameter: it answers %d", got.status)
	}
}

// counts checks how many requests were refused for this reason.
func (s *testServer) counts(t testing.TB, reason string, want int) {
	t.Helper()
	sample := fmt.Sprintf("kubelet_http_requests_refused_total{reason=%q} %d\n", reason, want)
	if want > 0 && !strings.Contains(s.metrics(t), sample) {
		t.Errorf("/metrics lacks %s:\n%s", sample, s.metrics(t))
	}
}

// printed is the output of containers, and each kind of message in which the kubelet quotes it.
const printed = "the password is opensesame"

func withOutput() *fakeKubelet {
	ended := terminatedState(1, api.ReasonError, noon)
	ended.Terminated.Message = printed
	pod := api.PodStatus{Name: "web", Namespace: "default", Source: "file", Phase: api.PodFailing, Reason: api.ReasonBackOff, Message: printed}
	for i, state := range []api.ContainerState{ended, waitingState(api.ReasonBackOff, printed), runningState(noon, printed)} {
		pod.Containers = append(pod.Containers, api.ContainerStatus{Name: fmt.Sprint("c", i), State: state, Last: ended.Terminated})
	}
	k := &fakeKubelet{statuses: []api.PodStatus{pod}, sources: []api.SourceStatus{{Source: "file", LastSuccess: noon}}}
	k.rows = map[string][]trace.Row{pod.FullName(): {{
		Container: "c0", Observed: []trace.Attempt{{Message: printed}}, Plan: []trace.Act{{Reason: printed}},
	}}}
	k.addEvent(api.Event{Time: noon, Pod: pod.FullName(), Container: "c0", Reason: "created", Message: printed})
	return k
}

// Another user of the host can see which pods fail, but no answer shows the output of a container.
func TestOnlyClientsThatMayReadLogsSeeMessages(t *testing.T) {
	tr := &trace.Trace{}
	tr.Add(trace.Event{Kind: trace.End, Pod: "web.default.file", Error: printed, Reason: printed, Rows: []trace.Row{{
		Observed: []trace.Attempt{{Message: printed}}, Plan: []trace.Act{{Reason: printed}},
	}}})
	s := serve(t, withOutput(), func(o *Options) { o.Trace = tr })
	shows := []string{"GET /", "GET /stream", "GET /status", "GET /pods", "GET /events", "GET /podInfo?podID=web&podNamespace=default"}
	requests := []string{"GET /stream"}
	for _, route := range everyRoute {
		requests = append(requests, route.request)
	}
	for _, request := range requests {
		read := func(set func(*http.Request)) string {
			if request != "GET /stream" {
				return s.ask(t, request, set).body
			}
			push, _ := bufio.NewReader(s.open(t, t.Context(), request, set).Body).ReadString('\n')
			return push
		}
		if got := read(with()); strings.Contains(got, "opensesame") || slices.Contains(shows, request) && !strings.Contains(got, hiddenMessage) && !strings.Contains(got, "this needs the token") {
			t.Errorf("%s: any user reads %s", request, got)
		}
		if got := read(withKey(s.key)); strings.Contains(got, printed) != slices.Contains(shows, request) {
			t.Errorf("%s: with the key it shows %s", request, got)
		}
	}
}

func TestWithoutDebuggingHandlersThereAreNone(t *testing.T) {
	k, options := withEverything(t)
	s := serve(t, k, options, func(o *Options) { o.Debugging = false })
	for _, route := range everyRoute {
		want := http.StatusNotFound
		switch route.route {
		case "GET /boundPods":
			want = http.StatusForbidden
		case "GET /stream", "GET /changes/{number}":
			want = http.StatusOK
		case "POST /stop/{pod}", "POST /start/{pod}", "POST /restart/{pod}":
			want = http.StatusOK
		case "POST /step":
			want = http.StatusBadRequest
		}
		if got := s.ask(t, route.request, withToken); route.need >= logs && got.status != want || k.usedTimes() > 0 {
			t.Errorf("%s: it answers %d %s", route.request, got.status, got.body)
		}
	}
}

func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	for request, set := range map[string]func(*http.Request){
		"GET /pods": with(), "GET /nothing": with(), "POST /pods": with(), "POST /run/default/web/app?cmd=id": with(),
		"GET /events": with("Host", "evil.example"), "GET /sources": with("Origin", "http://evil.example"),
	} {
		header := s.ask(t, request, set).header
		for name, value := range securityHeaders {
			if header.Get(name) != value {
				t.Errorf("%s: %s is %q, want %q", request, name, header.Get(name), value)
			}
		}
		if header.Get("Access-Control-Allow-Origin") != "" || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none';") {
			t.Errorf("%s: its header is %v", request, header)
		}
	}
}

// Browsers write an address in its shortest form.
func TestHostHeaderMayBeTheAddressWrittenInAnotherWay(t *testing.T) {
	for address, hosts := range map[string][2]string{ // the second one is another host
		"2001:DB8:0::5":   {"[2001:db8::5]:10250", "[2001:db8::6]:10250"},
		"::ffff:10.0.0.5": {"10.0.0.5:10250", "10.0.0.6:10250"},
		"0:0::0":          {"127.0.0.1", "[::]:10250"},
		"unix:/a":         {"localhost", "10.0.0.5"},
	} {
		s := &Server{opts: Options{Address: address}}
		if !s.allowedHost(hosts[0]) || s.allowedHost(hosts[1]) {
			t.Errorf("-address=%s: %s is allowed: %v, and %s: %v", address, hosts[0], s.allowedHost(hosts[0]), hosts[1], s.allowedHost(hosts[1]))
		}
	}
}

func TestHostHeaderMustNameThisKubelet(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	const get, end = "GET /pods HTTP/1.1\r\nConnection: close\r\nHost: ", "\r\n\r\n"
	answers := func(text, want string) {
		t.Helper()
		if status := strings.Split(s.raw(t, "%s", text)+"   ", " ")[1]; !strings.Contains(want, status) {
			t.Errorf("%q: it answers %s, want %s", text, status, want)
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "[::1]", "test-host", "Test-Host"} {
		answers(get+host+end, "200")
		answers(get+host+":1"+end, "200")
	}
	for _, host := range []string{
		"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example.localhost", "test-host.evil.example",
		"0.0.0.0", "[::]", "0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.000.000.001", "10.0.0.1", "[fe80::1]",
		"localhost.", "localhost:80:80", "user@localhost", "localhost, evil.example", "a b", "[", "[]", ":", "", ":10250",
		"localhost\r\nHost: evil.example",
	} {
		answers(get+host+end, "421 or 400")
	}
	answers("GET /pods HTTP/1.0\r\n\r\n", "421")
	answers("GET http://evil.example/pods HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n", "421")
	got := s.ask(t, "GET /pods", with("Host", "evil.example"), withToken)
	if got.status != http.StatusMisdirectedRequest || !got.isOneLine(`"evil.example"`) || !got.isOneLine("-hostname_override") {
		t.Errorf("it answers %d %s", got.status, got.body)
	}

	s = serve(t, &fakeKubelet{}, withTLS(t, "kubelet.example", "*.nodes.example"))
	for host, want := range map[string]int{
		"kubelet.example": 200, "kubelet.example:10250": 200, "a.nodes.example": 200, "localhost": 200, "test-host": 200,
		"evil.example": 421, "nodes.example": 421, "a.b.nodes.example": 421, "0.0.0.0": 421,
	} {
		if got := s.ask(t, "GET /pods", with("Host", host), withToken); got.status != want {
			t.Errorf("with TLS, %s: it answers %d, want %d", host, got.status, want)
		}
	}
	s.counts(t, "host", 4)
}

func TestPagesOfOtherOriginsAreRefused(t *testing.T) {
	const host = "localhost:10250"
	fetch := func(site, mode, dest string) []string {
		return []string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", dest}
	}
	link := fetch("cross-site", "navigate", "document")
	k, options := withEverything(t)
	all := serve(t, k, options)
	for _, tt := range []struct {
		headers []string
		fine    bool
	}{
		{nil, true}, // no browser, or an old one
		{[]string{"Origin", "http://" + host}, true},
		{fetch("none", "navigate", "document"), true}, // typed in
		{[]string{"Origin", "http://evil.example"}, false},
		{[]string{"Origin", "null"}, false},
		{fetch("same-site", "cors", "empty"), false},     // another port of localhost
		{fetch("cross-site", "no-cors", "image"), false}, // the attack of 2014
		{link, false},
	} {
		for _, request := range []string{"GET /pods", "HEAD /pods", "GET /healthz", logOf + "web/app", runIn + "web/app?cmd=id", "POST /stop/web"} {
			before := k.usedTimes()
			got := all.ask(t, request, with("Host", host), withToken, with(tt.headers...))
			good := got.status == http.StatusOK
			if !tt.fine {
				good = got.status == http.StatusForbidden && k.usedTimes() == before
			}
			if !good {
				t.Errorf("%s %v: it answers %d %s", request, tt.headers, got.status, got.body)
			}
		}
	}
	s := serve(t, &fakeKubelet{})
	for _, tt := range []struct {
		request string
		headers []string
		want    int
	}{
		{"GET /", link, 200}, {"GET /?key=" + s.key, link, 200}, {"POST /", link, 403}, {"GET //", link, 403},
		{"GET /", fetch("cross-site", "navigate", "iframe"), 403}, {"GET /", fetch("cross-site", "cors", "empty"), 403},
	} {
		if got := s.ask(t, tt.request, with(tt.headers...)); got.status != tt.want {
			t.Errorf("%s %v: it answers %d, want %d", tt.request, tt.headers, got.status, tt.want)
		}
	}
	s.counts(t, "origin", 4)
}
