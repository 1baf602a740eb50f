package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestHealth(t *testing.T) {
	k := &fakeKubelet{}
	s := serve(t, k)
	if got := s.ask(t, "GET /healthz"); got.status != http.StatusOK || got.body != "ok" {
		t.Errorf("it answers %d %q, want 200 ok", got.status, got.body)
	}
	k.set(func() { k.health = errors.New("Docker is away") })
	if got := s.ask(t, "GET /healthz"); got.status != http.StatusServiceUnavailable || got.body != "Docker is away\n" {
		t.Errorf("it answers %d %q, want 503 and the reason", got.status, got.body)
	}
}

// secretPod has a password in its environment.
func secretPod() api.Pod {
	return api.Pod{
		Name: "foo", Namespace: "default", UID: "u1", Source: "file",
		Manifest: api.ContainerManifest{ID: "foo", Containers: []api.Container{{
			Name: "c", Image: "busybox", Env: []api.EnvVar{{Name: "PASSWORD", Value: "s3cret"}, {Name: "EMPTY"}},
		}}},
	}
}

// twoOfEverything is a kubelet with JSON of each kind.
func twoOfEverything() *fakeKubelet {
	c := api.ContainerStatus{Name: "c", Image: "db", State: waitingState(api.ReasonPulling, "half")}
	c.State.Waiting.Next = noon
	ended := terminatedState(3, "", noon.Add(time.Second))
	ended.Terminated.Message, ended.Terminated.StartedAt = "m", noon
	k := &fakeKubelet{
		desired: []api.Pod{secretPod()},
		statuses: []api.PodStatus{
			{Name: "db", Namespace: "default", UID: "u1", Source: "file", Origin: "/etc/db.yaml", Phase: api.PodPending, Reason: api.ReasonRemoved, Containers: []api.ContainerStatus{c}},
			{Name: "web", Namespace: "default", UID: "u2", Source: "http", PodIP: "10.1.2.3", Phase: api.PodRunning, Containers: []api.ContainerStatus{
				{Name: "c", Image: "busybox", ImageID: "sha256:1", RestartCount: 2, State: ended},
				{Name: "net", Image: "pause", PodIP: "10.1.2.3", State: runningState(noon, "")},
			}},
		},
		sources: []api.SourceStatus{{Source: "file", Place: "/etc", Pods: 1, LastSuccess: noon}, {Source: "http", Place: "http://x", LastError: "refused", FailingSince: noon}},
	}
	k.addEvent(api.Event{Time: noon, Pod: "db.default.file", Reason: "created"})
	k.addEvent(api.Event{Time: noon.Add(time.Second), Pod: "db.default.file", Container: "c", Reason: "pulling", Message: "<db>"})
	return k
}

const (
	podInfo = `{"c":{"state":{"termination":{"exitCode":3,"message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}},"restartCount":2,"image":"busybox"},` +
		`"net":{"state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"pause"}}` + "\n"
	allPods = `{"items":[{"name":"db","namespace":"default","uid":"u1","source":"file","origin":"/etc/db.yaml","phase":"pending","reason":"Removed",` +
		`"containers":[{"name":"c","state":{"waiting":{"reason":"Pulling","message":"half","next":"2014-10-23T12:00:00Z"}},"restartCount":0,"image":"db"}]},` +
		`{"name":"web","namespace":"default","uid":"u2","source":"http","origin":"","phase":"running","podIP":"10.1.2.3","containers":[` +
		`{"name":"c","state":{"termination":{"exitCode":3,"message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}},"restartCount":2,"image":"busybox","imageID":"sha256:1"},` +
		`{"name":"net","state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"pause"}]}]}` + "\n"
	allSources = `{"items":[{"source":"file","place":"/etc","pods":1,"lastSuccess":"2014-10-23T12:00:00Z"},` +
		`{"source":"http","place":"http://x","pods":0,"failingSince":"2014-10-23T12:00:00Z","lastError":"refused"}]}` + "\n"
	event2    = `{"seq":2,"time":"2014-10-23T12:00:01Z","pod":"db.default.file","container":"c","reason":"pulling","message":"\u003cdb\u003e"}`
	allEvents = `{"items":[{"seq":1,"time":"2014-10-23T12:00:00Z","pod":"db.default.file","container":"","reason":"created"},` + event2 + "]}\n"
	noItems   = `{"items":[]}` + "\n"
	openPod   = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[` +
		`{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default","annotations":{"kubernetes/config.source":"file"},` +
		`"spec":{"volumes":null,"containers":[{"name":"c","image":"busybox","env":[{"name":"PASSWORD","value":"s3cret"},{"name":"EMPTY"}],"imagePullPolicy":""}],` +
		`"restartPolicy":{"always":{}}}}]}` + "\n"
	noBoundPods = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[]}` + "\n"
	notFound    = "404 page not found\n"
)

var hiddenPod = strings.NewReplacer("s3cret", hidden, `"EMPTY"`, `"EMPTY","value":"`+hidden+`"`).Replace(openPod)

func TestJSON(t *testing.T) {
	s, empty := serve(t, twoOfEverything()), serve(t, &fakeKubelet{})
	for _, tt := range []struct {
		of      *testServer
		request string
		status  int
		body    string
	}{
		{s, "GET /pods", 200, allPods},
		{empty, "GET /pods", 200, noItems},
		{s, "GET /pods?pretty=", 200, allPods},
		{s, "GET /pods?pretty=yes", 400, `pretty="yes": it must be 1 or 0` + "\n"},
		{s, "GET /sources", 200, allSources},
		{empty, "GET /sources", 200, noItems},
		{s, "GET /events", 200, allEvents},
		{s, "GET /events?after=", 200, allEvents},
		{s, "GET /events?after=0", 200, allEvents},
		{s, "GET /events?after=1", 200, `{"items":[` + event2 + "]}\n"},
		{s, "GET /events?after=2", 200, noItems},
		{s, "GET /events?after=18446744073709551615", 200, noItems},
		{empty, "GET /events", 200, noItems},
		{s, "GET /events?after=-1", 400, `after="-1": it must be the seq of an event` + "\n"},
		{s, "GET /events?after=one", 400, `after="one": it must be the seq of an event` + "\n"},
		{s, "GET /events?after=18446744073709551616", 400, `after="18446744073709551616": it must be the seq of an event` + "\n"},
		{s, "GET /podInfo?podID=web&podNamespace=default&UUID=u2", 200, podInfo},
		{s, "GET /boundPods", 200, hiddenPod},
		{empty, "GET /boundPods", 200, noBoundPods},
		{s, "GET /pods/", 404, notFound},
		{s, "GET /Pods", 404, notFound},
		{s, "GET /debug/pprof/", 404, notFound},
		{s, "POST /container", 404, notFound}, // 2014 took manifests there
		{s, "POST /containers", 404, notFound},
	} {
		got := tt.of.ask(t, tt.request, withToken)
		kind := jsonType
		if tt.status != http.StatusOK {
			kind = "text/plain; charset=utf-8"
		}
		if diff := cmp.Diff(tt.body, got.body); got.status != tt.status || diff != "" || got.header.Get("Content-Type") != kind {
			t.Errorf("%s: it answers %d of type %s (-want +got)\n%s", tt.request, got.status, got.header.Get("Content-Type"), diff)
		}
		// HEAD is answered as GET, without the body.
		if method, path, _ := strings.Cut(tt.request, " "); method == "GET" {
			head := tt.of.ask(t, "HEAD "+path, withToken)
			if head.status != got.status || head.body != "" || head.header.Get("Content-Type") != got.header.Get("Content-Type") {
				t.Errorf("HEAD %s: it answers %d %q of type %q", path, head.status, head.body, head.header.Get("Content-Type"))
			}
		}
	}
}

func parseJSON(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestPrettyIsTheSameOnManyLines(t *testing.T) {
	s := serve(t, twoOfEverything())
	for _, path := range []string{"/pods?", "/sources?", "/events?", "/boundPods?", "/podInfo?podID=db&podNamespace=default"} {
		short, pretty := s.ask(t, "GET "+path), s.ask(t, "GET "+path+"&pretty=1")
		if pretty.status != http.StatusOK || strings.Count(pretty.body, "\n  ") < 1 || !strings.HasSuffix(pretty.body, "}\n") ||
			!cmp.Equal(parseJSON(t, short.body), parseJSON(t, pretty.body)) {
			t.Errorf("%s: it answers %d %s", path, pretty.status, pretty.body)
		}
	}
}

func TestPodInfoFindsOnePodOfAnySource(t *testing.T) {
	pod := func(name, source, uid, image string) api.PodStatus {
		return api.PodStatus{Name: name, Namespace: "default", Source: source, UID: uid, Containers: []api.ContainerStatus{{Name: "c", Image: image}}}
	}
	s := serve(t, &fakeKubelet{statuses: []api.PodStatus{
		pod("db", "file", "u0", "db"),
		pod("web", "etcd", "u1", "of-etcd"),
		pod("web", "file", "u2", "of-file"),
		pod("web.default.file", "http", "u3", "of-http"),
	}})
	for query, want := range map[string]struct {
		status int
		body   string
	}{
		"podID=db&podNamespace=default":                                    {200, `"image":"db"`},
		"podID=db.default.file&podNamespace=default":                       {200, `"image":"db"`},
		"podID=web&podNamespace=default&UUID=u2":                           {200, `"image":"of-file"`},
		"podID=web.default.etcd&podNamespace=default":                      {200, `"image":"of-etcd"`},
		"podID=web.default.file&podNamespace=default":                      {200, `"image":"of-file"`}, // and not the pod of that name
		"podID=web.default.file.default.http&podNamespace=default":         {200, `"image":"of-http"`},
		"podID=web&podNamespace=default":                                   {409, `several pods are named "web": use one of the full names web.default.etcd, web.default.file` + "\n"},
		"":                                                                 {400, "Missing 'podID=' query entry.\n"},
		"podNamespace=default":                                             {400, "Missing 'podID=' query entry.\n"},
		"podID=web":                                                        {400, "Missing 'podNamespace=' query entry.\n"},
		"podID=nil&podNamespace=default":                                   {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=other":                                      {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=default&UUID=u9":                            {404, "api.BoundPod does not exist\n"},
		"podID=web.default.file.default.http&podNamespace=default&UUID=u1": {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=default&pretty=maybe":                       {400, `pretty="maybe": it must be 1 or 0` + "\n"},
	} {
		got := s.ask(t, "GET /podInfo?"+query)
		if got.status != want.status || !strings.Contains(got.body, want.body) {
			t.Errorf("%s: it answers %d %s", query, got.status, got.body)
		}
	}
}

func TestWhileDockerIsAway(t *testing.T) {
	s := serve(t, &fakeKubelet{err: errors.New("Docker is away")})
	for request, want := range map[string]int{
		"GET /pods": 503, "GET /podInfo?podID=web&podNamespace=default": 503, "GET /containerLogs/default/web/c": 503, "POST /run/default/web/c?cmd=id": 503,
		"GET /stats/web/c": 503, "GET /sources": 200, "GET /events": 200, "GET /boundPods": 200, "GET /": 200, "GET /metrics": 200,
	} {
		if got := s.ask(t, request, withToken); got.status != want || want == 503 && !got.isOneLine("Docker is away") {
			t.Errorf("%s: it answers %d %s", request, got.status, got.body)
		}
	}
}

// The values are for clients that could run a command in the container, and read them there.
func TestEnvironmentIsForWhoMayRunCommands(t *testing.T) {
	off := func(o *Options) { o.Debugging = false }
	for name, tt := range map[string]struct {
		options func(*Options)
		as      func(*http.Request)
		query   string
		status  int
		body    string // empty: one that does not hold the secret
	}{
		"not asked for, with the token": {nil, withToken, "?env=0", 200, hiddenPod},
		"with the token":                {nil, withToken, "?env=1", 200, openPod},
		"without":                       {nil, nil, "?env=1", 401, ""},
		"with another token":            {nil, with("Authorization", "Bearer another-token-1234"), "?env=1", 401, ""},
		"with the cookie":               {nil, withCookie, "?env=1", 401, ""},
		"without debugging handlers":    {off, withToken, "?env=1", 403, ""},
		"a slip":                        {nil, withToken, "?env=all", 400, `env="all": it must be 1 or 0` + "\n"},
		"on a socket":                   {onSocket(t), nil, "?env=1", 200, openPod},
		"on a socket, not asked for":    {onSocket(t), nil, "", 200, hiddenPod},
	} {
		k := &fakeKubelet{desired: []api.Pod{secretPod()}}
		if tt.options == nil {
			tt.options = func(*Options) {}
		}
		got := serve(t, k, tt.options).ask(t, "GET /boundPods"+tt.query, tt.as)
		if got.status != tt.status || tt.body != "" && got.body != tt.body || tt.body == "" && strings.Contains(got.body, "s3cret") {
			t.Errorf("%s: it answers %d %s", name, got.status, got.body)
		}
		if value := k.desired[0].Manifest.Containers[0].Env[0].Value; value != "s3cret" {
			t.Errorf("%s: the kubelet's own pod has now the value %q", name, value)
		}
	}
}

// An error of a manifest has the lines around it, or quotes what is wrong; both may hold a password.
func TestNoAnswerHoldsAnEnvironmentValue(t *testing.T) {
	const head = "version: v1beta1\nid: foo\ncontainers:\n- name: c\n  image: busybox\n  env:\n"
	for _, manifest := range []string{
		head + "  - name: PASSWORD\n    vlaue: s3cret\n",
		head + "  - name: PASSWORD\n    value: s3cret\n  imgae: busybox\n",
		head + "  - name: PASSWORD\n    value: 14.73e3\n",
		head + "  - {name: PASSWORD, value: x,s3cret}\n",
		head + "  - name: PASSWORD\n    value: [s3cret]\n",
		head + "  - name: PASSWORD\n    value: *s3cret\n",
		head + "  - PASSWORD=s3cret\n",
		head + "  - name: PASSWORD\n    value: \"s3cret\n",
		head + "  - name: PASSWORD\n\tvalue: s3cret\n",
		`{"version":"v1beta1","id":"foo","containers":[{"env":[{"name":"PASSWORD","value":"s3cret"}],"imgae":1}]}`,
	} {
		_, err := v1beta1.NewScheme().Decode("/etc/foo.yaml", []byte(manifest))
		if err == nil {
			t.Fatalf("nothing is wrong with\n%s", manifest)
		}
		k, options := withEverything(t)
		k.desired = []api.Pod{secretPod()}
		k.statuses[2].SourceError = err.Error()
		k.sources = []api.SourceStatus{{Source: "file", FailingSince: noon, LastError: err.Error()}}
		s := serve(t, k, options)
		for _, route := range everyRoute {
			if route.request == "GET /boundPods?env=1" {
				continue
			}
			got := s.ask(t, route.request, withToken)
			if strings.Contains(got.body, "s3cret") || strings.Contains(got.body, "14.73") {
				t.Errorf("%s shows\n%s", route.request, got.body)
			}
			if route.request == "GET /sources" && !strings.Contains(got.body, "/etc/foo.yaml:") {
				t.Errorf("%s does not show where it is: %s", route.request, got.body)
			}
		}
	}
}
