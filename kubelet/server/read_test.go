package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

func TestHealth(t *testing.T) {
	k := &fakeKubelet{}
	s := serve(t, k)
	if got := ask(t, s, "GET /healthz"); got.status != http.StatusOK || got.body != "ok" {
		t.Errorf("it answers %d %q, want 200 ok", got.status, got.body)
	}
	k.change(func() { k.health = errors.New("Docker is away") })
	if got := ask(t, s, "GET /healthz"); got.status != http.StatusServiceUnavailable || got.body != "Docker is away\n" {
		t.Errorf("it answers %d %q, want 503 and the reason", got.status, got.body)
	}
}

// told is a kubelet with two of everything, and its sources.
func told() (k *fakeKubelet, sources func(*Options)) {
	k = &fakeKubelet{
		statuses: []api.PodStatus{
			{Name: "db", Namespace: "default", UID: "u1", Source: "file", Origin: "/etc/db.yaml", Phase: api.PodPending, Reason: api.ReasonRemoved, Containers: []api.ContainerStatus{
				{Name: "c", Image: "db", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPulling, Message: "half", Next: noon}}},
			}},
			{Name: "web", Namespace: "default", UID: "u2", Source: "http", Phase: api.PodRunning, Containers: []api.ContainerStatus{}},
		},
	}
	k.happens(api.Event{Time: noon, Pod: "db.default.file", Reason: "created"})
	k.happens(api.Event{Time: noon.Add(time.Second), Pod: "db.default.file", Container: "c", Reason: "pulling", Message: "<db>"})
	return k, func(o *Options) {
		o.Sources = func() []api.SourceStatus {
			return []api.SourceStatus{{Source: "file", Place: "/etc", Pods: 1, LastSuccess: noon}, {Source: "http", Place: "http://x", LastError: "refused", FailingSince: noon}}
		}
	}
}

const (
	toldPods = `{"items":[` +
		`{"name":"db","namespace":"default","uid":"u1","source":"file","origin":"/etc/db.yaml","phase":"pending","reason":"Removed",` +
		`"containers":[{"name":"c","state":{"waiting":{"reason":"Pulling","message":"half","next":"2014-10-23T12:00:00Z"}},"restartCount":0,"image":"db"}]},` +
		`{"name":"web","namespace":"default","uid":"u2","source":"http","origin":"","phase":"running","containers":[]}]}` + "\n"
	toldSources = `{"items":[{"source":"file","place":"/etc","pods":1,"lastSuccess":"2014-10-23T12:00:00Z"},` +
		`{"source":"http","place":"http://x","pods":0,"failingSince":"2014-10-23T12:00:00Z","lastError":"refused"}]}` + "\n"
	toldEvent  = `{"seq":2,"time":"2014-10-23T12:00:01Z","pod":"db.default.file","container":"c","reason":"pulling","message":"\u003cdb\u003e"}`
	toldEvents = `{"items":[{"seq":1,"time":"2014-10-23T12:00:00Z","pod":"db.default.file","container":"","reason":"created"},` + toldEvent + "]}\n"
	nothing    = `{"items":[]}` + "\n"
)

func TestLists(t *testing.T) {
	k, sources := told()
	s := serve(t, k, sources)
	empty := serve(t, &fakeKubelet{})
	for _, tt := range []struct {
		of      *Server
		request string
		status  int
		body    string
	}{
		{s, "GET /pods", 200, toldPods},
		{empty, "GET /pods", 200, nothing},
		{s, "GET /pods?pretty=", 200, toldPods},
		{s, "GET /pods?pretty=yes", 400, `pretty="yes": it must be 1 or 0` + "\n"},
		{s, "GET /sources", 200, toldSources},
		{empty, "GET /sources", 200, nothing},
		{s, "GET /events", 200, toldEvents},
		{s, "GET /events?after=", 200, toldEvents},
		{s, "GET /events?after=0", 200, toldEvents},
		{s, "GET /events?after=1", 200, `{"items":[` + toldEvent + "]}\n"},
		{s, "GET /events?after=2", 200, nothing},
		{s, "GET /events?after=18446744073709551615", 200, nothing},
		{empty, "GET /events", 200, nothing},
		{s, "GET /events?after=-1", 400, `after="-1": it must be the seq of an event` + "\n"},
		{s, "GET /events?after=one", 400, `after="one": it must be the seq of an event` + "\n"},
		{s, "GET /events?after=18446744073709551616", 400, `after="18446744073709551616": it must be the seq of an event` + "\n"},
		{s, "GET /pods/", 404, "404 page not found\n"},
		{s, "GET /Pods", 404, "404 page not found\n"},
		{s, "GET /debug/pprof/", 404, "404 page not found\n"},
		{s, "POST /container", 404, "404 page not found\n"}, // 2014 took manifests there
		{s, "POST /containers", 404, "404 page not found\n"},
	} {
		got := ask(t, tt.of, tt.request, withToken)
		if got.status != tt.status || got.body != tt.body {
			t.Errorf("%s: it answers %d %s\nwant %d %s", tt.request, got.status, got.body, tt.status, tt.body)
		}
		want := "text/plain; charset=utf-8"
		if tt.status == http.StatusOK {
			want = "application/json"
		}
		if got := got.header.Get("Content-Type"); got != want {
			t.Errorf("%s: its type is %q, want %q", tt.request, got, want)
		}
	}
}

func TestPrettyIsTheSameOverManyLines(t *testing.T) {
	k, sources := told()
	s := serve(t, k, sources)
	for _, path := range []string{"/pods", "/sources", "/events", "/boundPods", "/podInfo?podID=db&podNamespace=default"} {
		short := ask(t, s, "GET "+path)
		sign := "?"
		if strings.Contains(path, "?") {
			sign = "&"
		}
		pretty := ask(t, s, "GET "+path+sign+"pretty=1")
		if pretty.status != http.StatusOK || strings.Count(pretty.body, "\n  ") < 1 || !strings.HasSuffix(pretty.body, "}\n") {
			t.Errorf("%s: it answers %d %s", path, pretty.status, pretty.body)
		}
		var a, b json.RawMessage
		if err := errors.Join(json.Unmarshal([]byte(short.body), &a), json.Unmarshal([]byte(pretty.body), &b)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		a, _ = json.Marshal(a)
		if b, _ = json.Marshal(b); string(a) != string(b) {
			t.Errorf("%s: it is %s, and pretty %s", path, a, b)
		}
	}
}

// HEAD is answered as GET would be, without the body.
func TestHead(t *testing.T) {
	k, sources := told()
	s := serve(t, k, sources)
	for _, path := range []string{"/healthz", "/pods", "/sources", "/events", "/events?after=x", "/boundPods", "/podInfo", "/podInfo?podID=db&podNamespace=default", "/nothing"} {
		get, head := ask(t, s, "GET "+path), ask(t, s, "HEAD "+path)
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("HEAD %s: it answers %d %q of type %q; GET %d, %q", path, head.status, head.body, head.header.Get("Content-Type"), get.status, get.header.Get("Content-Type"))
		}
	}
}

func TestWhileDockerIsAway(t *testing.T) {
	s := serve(t, &fakeKubelet{err: errors.New("Docker is away")})
	for request, want := range map[string]int{
		"GET /pods":                        http.StatusServiceUnavailable,
		"GET /containerLogs/default/web/c": http.StatusServiceUnavailable,
		"POST /run/default/web/c?cmd=id":   http.StatusServiceUnavailable,
		"GET /sources":                     http.StatusOK,
		"GET /events":                      http.StatusOK,
		"GET /boundPods":                   http.StatusOK,
		"GET /":                            http.StatusOK,
		"GET /metrics":                     http.StatusOK,
	} {
		if got := ask(t, s, request, withToken); got.status != want || want != http.StatusOK && !got.says("Docker is away") {
			t.Errorf("%s: it answers %d %s", request, got.status, got.body)
		}
	}
}
