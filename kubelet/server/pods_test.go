package server

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

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
	waits := waitingState(api.ReasonPulling, "half")
	waits.Waiting.Next = noon
	ended := terminatedState(3, "", noon.Add(time.Second))
	ended.Terminated.Message, ended.Terminated.StartedAt = "m", noon
	k := &fakeKubelet{
		desired: []api.Pod{secretPod()},
		statuses: []api.PodStatus{
			{
				Name: "db", Namespace: "default", UID: "u1", Source: "file", Origin: "/etc/db.yaml", Phase: api.PodRemoving, Reason: api.ReasonRemoved,
				Containers: []api.ContainerStatus{{Name: "c", Image: "db", State: waits}},
			},
			{
				Name: "web", Namespace: "default", UID: "u2", Source: "http", PodIP: "10.1.2.3", Phase: api.PodRunning, Ready: true,
				Containers: []api.ContainerStatus{
					{Name: "c", Image: "busybox", ImageID: "sha256:1", RestartCount: 2, State: ended},
					{Name: "net", Image: "pause", PodIP: "10.1.2.3", Ready: true, State: runningState(noon, "")},
				},
			},
		},
		sources: []api.SourceStatus{
			{Source: "file", Place: "/etc", Pods: 1, LastSuccess: noon},
			{Source: "http", Place: "http://x", LastError: "refused", FailingSince: noon},
		},
	}
	k.addEvent(api.Event{Time: noon, Pod: "db.default.file", Reason: "created"})
	k.addEvent(api.Event{Time: noon.Add(time.Second), Pod: "db.default.file", Container: "c", Reason: "pulling", Message: "<db>"})
	return k
}

const (
	endedC = `{"exitCode":3,"message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}`
	state2 = `"state":{"termination":` + endedC + `},"restartCount":2,"image":"busybox"`
	netC   = `"state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"pause"`

	podInfo = `{"c":{` + state2 + `},"net":{` + netC + "}}\n"
	allPods = `{"items":[{"name":"db","namespace":"default","uid":"u1","source":"file","origin":"/etc/db.yaml",` +
		`"phase":"removing","ready":false,"reason":"Removed","containers":[` +
		`{"name":"c","state":{"waiting":{"reason":"Pulling","message":"half","next":"2014-10-23T12:00:00Z"}},"restartCount":0,"image":"db",` +
		`"ready":false}]},` +
		`{"name":"web","namespace":"default","uid":"u2","source":"http","origin":"","phase":"running","ready":true,"podIP":"10.1.2.3",` +
		`"containers":[{"name":"c",` + state2 + `,"imageID":"sha256:1","ready":false},{"name":"net",` + netC + `,"ready":true}]}]}` + "\n"
	allSources = `{"items":[{"source":"file","place":"/etc","pods":1,"lastSuccess":"2014-10-23T12:00:00Z"},` +
		`{"source":"http","place":"http://x","pods":0,"failingSince":"2014-10-23T12:00:00Z","lastError":"refused"}]}` + "\n"
	event1  = `{"seq":1,"time":"2014-10-23T12:00:00Z","pod":"db.default.file","container":"","reason":"created"}`
	event2  = `{"seq":2,"time":"2014-10-23T12:00:01Z","pod":"db.default.file","container":"c","reason":"pulling","message":"\u003cdb\u003e"}`
	noItems = `{"items":[]}` + "\n"
	bound   = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[`
	openPod = bound + `{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default",` +
		`"annotations":{"kubernetes/config.source":"file"},"spec":{"volumes":null,"containers":[{"name":"c","image":"busybox",` +
		`"env":[{"name":"PASSWORD","value":"s3cret"},{"name":"EMPTY"}],"imagePullPolicy":""}],"restartPolicy":{"always":{}}}}]}` + "\n"
	notFound = "404 page not found\n"
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
		{s, "GET /pods?pretty=yes", 400, `pretty="yes": it must be 1 or 0` + "\n"},
		{s, "GET /sources", 200, allSources},
		{s, "GET /events", 200, `{"items":[` + event1 + "," + event2 + "]}\n"},
		{s, "GET /events?after=1", 200, `{"items":[` + event2 + "]}\n"},
		{s, "GET /events?after=18446744073709551616", 400, `after="18446744073709551616": it must be the seq of an event` + "\n"},
		{s, "GET /podInfo?podID=web&podNamespace=default&UUID=u2", 200, podInfo},
		{s, "GET /boundPods", 200, hiddenPod},
		{s, "GET /boundPods?env=1", 200, openPod}, // for clients that may run commands; the kubelet's own pod keeps its values
		{s, "GET /boundPods?env=all", 400, `env="all": it must be 1 or 0` + "\n"},
		{empty, "GET /boundPods", 200, bound + "]}\n"},
		{s, "GET /debug/pprof/", 404, notFound},
		{s, "POST /container", 404, notFound}, // 2014 took manifests there
	} {
		got := tt.of.ask(t, tt.request, withToken)
		kind := jsonType
		if tt.status != http.StatusOK {
			kind = "text/plain; charset=utf-8"
		}
		if diff := cmp.Diff(tt.body, got.body); got.status != tt.status || diff != "" || got.header.Get("Content-Type") != kind {
			t.Errorf("%s: it answers %d of type %s (-want +got)\n%s", tt.request, got.status, got.header.Get("Content-Type"), diff)
		}
		if kind != jsonType {
			continue
		}
		path, query, _ := strings.Cut(strings.TrimPrefix(tt.request, "GET "), "?")
		head := tt.of.ask(t, "HEAD "+path+"?"+query, withToken)
		if head.status != got.status || head.body != "" || head.header.Get("Content-Type") != kind {
			t.Errorf("HEAD %s: it answers %d %q of type %q", path, head.status, head.body, head.header.Get("Content-Type"))
		}
		pretty := tt.of.ask(t, "GET "+path+"?pretty=1&"+query, withToken)
		if !strings.Contains(pretty.body, "\n  ") || !cmp.Equal(parseJSON(t, got.body), parseJSON(t, pretty.body)) {
			t.Errorf("pretty %s: it answers %d %s", path, pretty.status, pretty.body)
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

func TestPodInfoFindsOnePodOfAnySource(t *testing.T) {
	k := &fakeKubelet{}
	for _, name := range []string{"db.file", "web.etcd", "web.file", "web.default.file.http"} {
		at := strings.LastIndex(name, ".")
		k.statuses = append(k.statuses, api.PodStatus{
			Name: name[:at], Source: name[at+1:], Namespace: "default", UID: "uid-of-" + name,
			Containers: []api.ContainerStatus{{Name: "c", Image: "of-" + name}},
		})
	}
	s := serve(t, k)
	const gone = "api.BoundPod does not exist\n"
	for query, want := range map[string]struct {
		status int
		body   string
	}{
		"podID=db&podNamespace=default":                            {200, `"image":"of-db.file"`},
		"podID=web&podNamespace=default&UUID=uid-of-web.file":      {200, `"image":"of-web.file"`},
		"podID=web.default.etcd&podNamespace=default":              {200, `"image":"of-web.etcd"`},
		"podID=web.default.file&podNamespace=default":              {200, `"image":"of-web.file"`}, // and not the pod of that name
		"podID=web.default.file.default.http&podNamespace=default": {200, `"image":"of-web.default.file.http"`},
		"podID=web&podNamespace=default":                           {409, "the full names web.default.etcd, web.default.file\n"},
		"":                                                         {400, "Missing 'podID=' query entry.\n"},
		"podID=db":                                                 {200, `"image":"of-db.file"`}, // as in v0.4
		"podID=web":                                                {409, "the full names web.default.etcd, web.default.file\n"},
		"podID=none":                                               {404, gone},
		"podID=db&podNamespace=other":                              {404, gone},
		"podID=web.default.file.default.http&podNamespace=default&UUID=uid-of-web.etcd": {404, gone},
	} {
		if got := s.ask(t, "GET /podInfo?"+query); got.status != want.status || !strings.Contains(got.body, want.body) {
			t.Errorf("%s: it answers %d %s", query, got.status, got.body)
		}
	}
}

func TestWhileDockerIsAway(t *testing.T) {
	k := &fakeKubelet{}
	s := serve(t, k)
	if got := s.ask(t, "GET /healthz"); got.status != http.StatusOK || got.body != "ok" {
		t.Errorf("before: /healthz answers %d %s", got.status, got.body)
	}
	k.set(func() { k.err, k.health = errors.New("Docker is away"), errors.New("Docker is away") })
	for request, want := range map[string]int{
		"GET /healthz": 503, "GET /pods": 503, "GET /podInfo?podID=web&podNamespace=default": 503,
		logOf + "web/c": 503, runIn + "web/c?cmd=id": 503, "GET /stats/web/c": 503,
		"GET /sources": 200, "GET /events": 200, "GET /boundPods": 200, "GET /": 200, "GET /metrics": 200,
	} {
		if got := s.ask(t, request, withToken); got.status != want || want == 503 && !got.isOneLine("Docker is away") {
			t.Errorf("%s: it answers %d %s", request, got.status, got.body)
		}
	}
}

// measure returns measurements of the containers of withContainers.
func measure(pod, _ string) (api.ContainerStats, error) {
	return api.ContainerStats{
		Time: noon, Created: noon, Image: "busybox", ID: "id-of-" + pod, Name: "k8s_app", CPUShares: 512, MemoryLimit: 1 << 20,
		CPU:     api.CPUStats{Total: 18446744073709551615, User: 2, System: 3, PerCPU: []uint64{4, 5}},
		Memory:  api.MemoryStats{Usage: 6, WorkingSet: 7},
		Network: api.NetworkStats{RxBytes: 1, RxPackets: 2, RxErrors: 3, RxDropped: 4, TxBytes: 5, TxPackets: 6, TxErrors: 7, TxDropped: 8},
	}, nil
}

const measured = `{
	"name": "/docker/ID", "aliases": ["k8s_app", "ID"], "namespace": "docker",
	"spec": {
		"creation_time": "2014-10-23T12:00:00Z", "image": "busybox", "has_cpu": true, "has_memory": true, "has_network": true,
		"cpu": {"limit": 512}, "memory": {"limit": 1048576}
	},
	"stats": [{
		"timestamp": "2014-10-23T12:00:00Z",
		"cpu": {"usage": {"total": 18446744073709551615, "per_cpu_usage": [4, 5], "user": 2, "system": 3}, "load_average": 0},
		"memory": {"usage": 6, "working_set": 7},
		"network": {
			"rx_bytes": 1, "rx_packets": 2, "rx_errors": 3, "rx_dropped": 4, "tx_bytes": 5, "tx_packets": 6, "tx_errors": 7, "tx_dropped": 8
		}
	}]
}`

func TestContainerStats(t *testing.T) {
	k := withContainers()
	k.stats = measure
	s := serve(t, k)
	for path, id := range map[string]string{
		"web/app": "id-of-web.default.file", "twin.default.etcd/app": "id-of-twin.default.etcd",
		"default/web/web-uid/app": "id-of-web.default.file", "default/twin/twin-of-file/app": "id-of-twin.default.file",
	} {
		got := s.ask(t, "GET /stats/"+path)
		want := parseJSON(t, strings.ReplaceAll(measured, "ID", id))
		if diff := cmp.Diff(want, parseJSON(t, got.body)); got.status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-want +got)\n%s", path, got.status, diff)
		}
	}
	k.set(func() { k.stats = nil })
	got := s.ask(t, "GET /stats/web/app")
	if !strings.Contains(got.body, `"cpu":{"limit":1024}`) || !strings.Contains(got.body, `"memory":{"limit":18446744073709551615}`) {
		t.Errorf("without limits: %s", got.body)
	}
}

func TestTheMachineIsDescribedAndMeasured(t *testing.T) {
	s := serve(t, &fakeKubelet{node: underPressure})
	machine, _ := parseJSON(t, s.ask(t, "GET /spec/").body).(object)
	var stats struct {
		Name string
		Spec struct {
			CreationTime time.Time `json:"creation_time"`
			Memory       struct{ Limit float64 }
		}
		Stats []struct {
			CPU     struct{ Usage api.CPUStats }
			Memory  api.MemoryStats
			Network map[string]any
		}
	}
	unittest.Must(t, json.Unmarshal([]byte(s.ask(t, "GET /stats/").body), &stats))
	cpu, memory := stats.Stats[0].CPU.Usage, stats.Stats[0].Memory
	if stats.Stats[0].Network["rx_bytes"] == nil || machine["num_cores"] != float64(len(cpu.PerCPU)) || machine["boot_id"] == "" ||
		stats.Name != "/" || machine["memory_capacity"] != stats.Spec.Memory.Limit || time.Since(stats.Spec.CreationTime) < 0 ||
		cpu.Total < cpu.User+cpu.System || cpu.User == 0 || memory.Usage == 0 || float64(memory.WorkingSet) > stats.Spec.Memory.Limit {
		t.Errorf("the machine is %+v and its stats are %+v", machine, stats)
	}
}

func TestCAdvisor(t *testing.T) {
	k := withContainers()
	k.stats = measure
	const (
		machine  = `{"filesystems":[{"device":"/dev/sda"}],"memory_capacity":18446744073709551615,"num_cores":96}`
		twoStats = `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`
		app      = `{"name":"/system.slice/docker-1.scope","spec":{"image":"x"}}`
	)
	answers := map[string]string{ // 500 at other paths
		"/machine": machine, "/containers/": twoStats, "/docker/id-of-twin.default.file": `{}`,
		"/docker/id-of-web.default.file": `{"/its name": ` + strings.Replace(app, `"image"`, `"envs":{"PASSWORD":"hush"},"image"`, 1) + `}`,
	}
	asked := make(chan string, 1)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		path := strings.TrimPrefix(r.URL.Path, "/api/v1.3")
		asked <- r.Method + " " + path + " " + string(body)
		if answer, ok := answers[path]; ok {
			io.WriteString(w, answer)
		} else {
			http.Error(w, "unknown container", http.StatusInternalServerError)
		}
	}))
	defer c.Close()
	s := serve(t, k, func(o *Options) { o.CAdvisorPort = c.Listener.Addr().(*net.TCPAddr).Port })
	for _, tt := range []struct{ path, asked, want string }{
		{"/spec/", `POST /machine {"num_stats":0}`, machine},
		{"/stats/", `POST /containers/ {"num_stats":60}`, twoStats},
		{`/stats/ {"num_stats":3}`, `POST /containers/ {"num_stats":3}`, twoStats},
		{"/stats/web/app?num_stats=7", `POST /docker/id-of-web.default.file {"num_stats":7}`, app},
		// The kubelet itself answers what cAdvisor does not know.
		{"/stats/twin.default.etcd/app", `POST /docker/id-of-twin.default.etcd {"num_stats":60}`, "/docker/id-of-twin.default.etcd"},
		{"/stats/twin.default.file/app", `POST /docker/id-of-twin.default.file {"num_stats":60}`, "/docker/id-of-twin.default.file"},
	} {
		path, body, _ := strings.Cut(tt.path, " ")
		got := s.ask(t, "GET "+path, withBody(jsonType, body))
		if got.status != http.StatusOK || !strings.Contains(got.body, tt.want) || got.header.Get("Content-Type") != jsonType {
			t.Errorf("%s: %d %q, want 200 %s", tt.path, got.status, got.body, tt.want)
		}
		if question := <-asked; question != tt.asked {
			t.Errorf("%s: cAdvisor is asked %s, want %s", tt.path, question, tt.asked)
		}
	}
	for _, answer := range []string{"<html>a web page</html>", `["a list"]`, `{"num_cores":`} {
		answers["/machine"] = answer
		if got := s.ask(t, "GET /spec/"); got.status != http.StatusOK || !strings.Contains(got.body, `"boot_id"`) {
			t.Errorf("when cAdvisor answers %q: %d %s, want the kubelet's own answer", answer, got.status, got.body)
		}
		<-asked
	}
}
