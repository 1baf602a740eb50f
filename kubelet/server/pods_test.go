package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestHealth(t *testing.T) {
	for want, err := range map[string]error{"200 ok": nil, "503 Docker is away\n": errors.New("Docker is away")} {
		if got := serve(t, &fakeKubelet{health: err}).ask(t, "GET /healthz"); fmt.Sprint(got.status, " ", got.body) != want {
			t.Errorf("it answers %d %q, want %q", got.status, got.body, want)
		}
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
		{s, "GET /boundPods?env=0", 200, hiddenPod},
		{s, "GET /boundPods?env=1", 200, openPod}, // for clients that may run commands; the kubelet's own pod keeps its values
		{s, "GET /boundPods?env=all", 400, `env="all": it must be 1 or 0` + "\n"},
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

// measure is what the kubelet knows of the containers of withContainers.
func measure(pod, _ string) (api.ContainerStats, error) {
	return api.ContainerStats{
		Time: noon, Created: noon, Image: "busybox", ID: "id-of-" + pod, CPUShares: 512, MemoryLimit: 1 << 20,
		CPU:     api.CPUStats{Total: 18446744073709551615, User: 2, System: 3, PerCPU: []uint64{4, 5}},
		Memory:  api.MemoryStats{Usage: 6, WorkingSet: 7},
		Network: api.NetworkStats{RxBytes: 1, RxPackets: 2, RxErrors: 3, RxDropped: 4, TxBytes: 5, TxPackets: 6, TxErrors: 7, TxDropped: 8},
	}, nil
}

const measured = `{"name":"/docker/ID","aliases":["ID"],"namespace":"docker",` +
	`"spec":{"creation_time":"2014-10-23T12:00:00Z","has_cpu":true,"cpu":{"limit":512},"has_memory":true,"memory":{"limit":1048576},"has_network":true,"image":"busybox"},` +
	`"stats":[{"timestamp":"2014-10-23T12:00:00Z","cpu":{"usage":{"total":18446744073709551615,"per_cpu_usage":[4,5],"user":2,"system":3},"load_average":0},` +
	`"memory":{"usage":6,"working_set":7},` +
	`"network":{"rx_bytes":1,"rx_packets":2,"rx_errors":3,"rx_dropped":4,"tx_bytes":5,"tx_packets":6,"tx_errors":7,"tx_dropped":8}}]}`

func TestContainerStats(t *testing.T) {
	k := withContainers()
	k.stats = measure
	s := serve(t, k)
	for path, id := range map[string]string{
		"web/app": "id-of-web.default.file", "twin.default.etcd/app": "id-of-twin.default.etcd",
		"default/web/web-uid/app": "id-of-web.default.file", "default/twin/twin-of-file/app": "id-of-twin.default.file",
	} {
		got := s.ask(t, "GET /stats/"+path)
		if diff := cmp.Diff(parseJSON(t, strings.ReplaceAll(measured, "ID", id)), parseJSON(t, got.body)); got.status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-want +got)\n%s", path, got.status, diff)
		}
	}
	for path, want := range map[string]string{"/stats?num_stats=1": "/stats/?num_stats=1", "/spec": "/spec/"} {
		if got := s.ask(t, "GET "+path); got.status != http.StatusTemporaryRedirect || got.header.Get("Location") != want {
			t.Errorf("%s: %d %v, want a redirect to %s", path, got.status, got.header, want)
		}
	}
	k.set(func() { k.stats = nil })
	if got := s.ask(t, "GET /stats/web/app"); !strings.Contains(got.body, `"cpu":{"limit":1024}`) || !strings.Contains(got.body, `"memory":{"limit":18446744073709551615}`) {
		t.Errorf("without limits: %s", got.body)
	}
}

func TestTheMachineIsDescribedAndMeasured(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	var machine struct {
		NumCores       int    `json:"num_cores"`
		MemoryCapacity uint64 `json:"memory_capacity"`
		BootID         string `json:"boot_id"`
	}
	var stats struct {
		Name string
		Spec struct {
			CreationTime time.Time `json:"creation_time"`
			Memory       struct{ Limit uint64 }
		}
		Stats []struct {
			CPU struct {
				Usage struct {
					Total, User, System uint64
					PerCPU              []uint64 `json:"per_cpu_usage"`
				}
			}
			Memory struct {
				Usage      uint64
				WorkingSet uint64 `json:"working_set"`
			}
			Network struct {
				RxBytes *uint64 `json:"rx_bytes"`
			}
		}
	}
	if err := errors.Join(json.Unmarshal([]byte(s.ask(t, "GET /spec/").body), &machine), json.Unmarshal([]byte(s.ask(t, "GET /stats/").body), &stats)); err != nil {
		t.Fatal(err)
	}
	one := stats.Stats[0]
	if machine.NumCores == 0 || machine.BootID == "" || stats.Name != "/" || stats.Spec.Memory.Limit != machine.MemoryCapacity || time.Since(stats.Spec.CreationTime) < 0 ||
		len(one.CPU.Usage.PerCPU) != machine.NumCores || one.CPU.Usage.Total < one.CPU.Usage.User+one.CPU.Usage.System || one.CPU.Usage.User == 0 ||
		one.Memory.Usage == 0 || one.Memory.WorkingSet > machine.MemoryCapacity || one.Network.RxBytes == nil {
		t.Errorf("it is %+v and %+v", machine, stats)
	}
}

func TestCAdvisor(t *testing.T) {
	k := withContainers()
	k.stats = measure
	answers := map[string]string{ // 500 at other paths
		"/api/v1.3/machine":                        `{"num_cores":96,"memory_capacity":18446744073709551615,"filesystems":[{"device":"/dev/sda"}]}`,
		"/api/v1.3/containers/":                    `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`,
		"/api/v1.3/docker/id-of-web.default.file":  `{"/system.slice/docker-1.scope":{"name":"/system.slice/docker-1.scope","spec":{"envs":{"PASSWORD":"hush"},"image":"x"}}}`,
		"/api/v1.3/docker/id-of-twin.default.file": `{}`,
	}
	asked := make(chan string, 1)
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.Method + " " + r.URL.Path + " " + string(body)
		if answer, ok := answers[r.URL.Path]; ok {
			io.WriteString(w, answer)
		} else {
			http.Error(w, "unknown container", http.StatusInternalServerError)
		}
	}))
	defer c.Close()
	s := serve(t, k, func(o *Options) { o.CAdvisorPort = c.Listener.Addr().(*net.TCPAddr).Port })
	const twoStats = `{"name":"/","stats":[{"timestamp":"a"},{"timestamp":"b"}]}`
	for _, tt := range []struct{ path, asked, want string }{
		{"/spec/", `GET /api/v1.3/machine {"num_stats":60}`, `{"filesystems":[{"device":"/dev/sda"}],"memory_capacity":18446744073709551615,"num_cores":96}`},
		{"/stats/", `POST /api/v1.3/containers/ {"num_stats":60}`, twoStats},
		{"/stats/?num_stats=2", `POST /api/v1.3/containers/ {"num_stats":2}`, twoStats},
		{"/stats/?num_stats=few", `POST /api/v1.3/containers/ {"num_stats":60}`, twoStats},
		{"/stats/web/app?num_stats=7", `POST /api/v1.3/docker/id-of-web.default.file {"num_stats":7}`, `{"name":"/system.slice/docker-1.scope","spec":{"image":"x"}}`},
		// What it does not know is answered by the kubelet.
		{"/stats/twin.default.etcd/app", `POST /api/v1.3/docker/id-of-twin.default.etcd {"num_stats":60}`, "/docker/id-of-twin.default.etcd"},
		{"/stats/twin.default.file/app", `POST /api/v1.3/docker/id-of-twin.default.file {"num_stats":60}`, "/docker/id-of-twin.default.file"},
	} {
		got := s.ask(t, "GET "+tt.path)
		if got.status != http.StatusOK || !strings.Contains(got.body, tt.want) || got.header.Get("Content-Type") != jsonType {
			t.Errorf("%s: %d %q, want 200 %s", tt.path, got.status, got.body, tt.want)
		}
		if question := <-asked; question != tt.asked {
			t.Errorf("%s: cAdvisor is asked %s, want %s", tt.path, question, tt.asked)
		}
	}
	for _, answer := range []string{"<html>a web page</html>", `["a list"]`, "", `{"num_cores":`} {
		answers["/api/v1.3/machine"] = answer
		if got := s.ask(t, "GET /spec/"); got.status != http.StatusOK || !strings.Contains(got.body, `"boot_id"`) {
			t.Errorf("when it answers %q: %d %s, want our own", answer, got.status, got.body)
		}
		<-asked
	}
}
