package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

var noon = time.Date(2014, 10, 23, 12, 0, 0, 0, time.UTC)

// twoWebs has two pods of one name, and one whose name is the full name of another.
func twoWebs() *fakeKubelet {
	pod := func(name, source, uid, image string) api.PodStatus {
		return api.PodStatus{Name: name, Namespace: "default", Source: source, UID: uid, Containers: []api.ContainerStatus{{Name: "c", Image: image}}}
	}
	return &fakeKubelet{statuses: []api.PodStatus{
		pod("db", "file", "u0", "db"),
		pod("web", "etcd", "u1", "of-etcd"),
		pod("web", "file", "u2", "of-file"),
		pod("web.default.file", "http", "u3", "of-http"),
	}}
}

func TestPodInfoIsThatOf2014(t *testing.T) {
	s := serve(t, &fakeKubelet{statuses: []api.PodStatus{{
		Name: "foo", Namespace: "default", UID: "u1", Source: "file", PodIP: "10.1.2.3", Phase: api.PodRunning,
		Containers: []api.ContainerStatus{
			{Name: "c", Image: "busybox", ImageID: "sha256:1", RestartCount: 2, State: api.ContainerState{Terminated: &api.ContainerStateTerminated{
				ExitCode: 3, Message: "m", StartedAt: noon, FinishedAt: noon.Add(time.Second),
			}}},
			{Name: "b", Image: "busybox", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: api.ReasonPulling}}},
			{Name: api.NetworkContainerName, Image: "kubernetes/pause:latest", PodIP: "10.1.2.3", State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: noon}}},
		},
	}}})
	const want = `{"b":{"state":{"waiting":{"reason":"Pulling"}},"restartCount":0,"image":"busybox"},` +
		`"c":{"state":{"termination":{"exitCode":3,"message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}},"restartCount":2,"image":"busybox"},` +
		`"net":{"state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"kubernetes/pause:latest"}}` + "\n"
	got := ask(t, s, "GET /podInfo?podID=foo&podNamespace=default&UUID=u1")
	if diff := cmp.Diff(want, got.body); got.status != http.StatusOK || diff != "" {
		t.Errorf("it answers %d (-want +got):\n%s", got.status, diff)
	}
	if got := got.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("its type is %q, and in 2014 it was text", got)
	}
}

func TestPodInfoFindsOnePodOfAnySource(t *testing.T) {
	s := serve(t, twoWebs())
	for query, want := range map[string]struct {
		status int
		body   string
	}{
		"podID=db&podNamespace=default":                            {200, `"image":"db"`},
		"podID=db.default.file&podNamespace=default":               {200, `"image":"db"`},
		"podID=web&podNamespace=default&UUID=u2":                   {200, `"image":"of-file"`},
		"podID=web.default.etcd&podNamespace=default":              {200, `"image":"of-etcd"`},
		"podID=web.default.file&podNamespace=default":              {200, `"image":"of-file"`}, // and not the pod of that name
		"podID=web.default.file.default.http&podNamespace=default": {200, `"image":"of-http"`},
		"podID=web&podNamespace=default":                           {409, `several pods are named "web": use one of the full names web.default.etcd, web.default.file` + "\n"},
		"":                                                         {400, "Missing 'podID=' query entry.\n"},
		"podNamespace=default":                                     {400, "Missing 'podID=' query entry.\n"},
		"podID=web":                                                {400, "Missing 'podNamespace=' query entry.\n"},
		"podID=nil&podNamespace=default":                           {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=other":                              {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=default&UUID=u9":                    {404, "api.BoundPod does not exist\n"},
		"podID=web.default.file&podNamespace=default&UUID=u1":      {404, "api.BoundPod does not exist\n"},
		"podID=db&podNamespace=default&pretty=maybe":               {400, `pretty="maybe": it must be 1 or 0` + "\n"},
	} {
		got := ask(t, s, "GET /podInfo?"+query)
		if got.status != want.status || !strings.Contains(got.body, want.body) {
			t.Errorf("%s: it answers %d %s", query, got.status, got.body)
		}
	}
}

func TestPodInfoWhileDockerIsAway(t *testing.T) {
	s := serve(t, &fakeKubelet{err: errors.New("Docker is away")})
	if got := ask(t, s, "GET /podInfo?podID=web&podNamespace=default"); got.status != http.StatusServiceUnavailable || got.body != "Docker is away\n" {
		t.Errorf("it answers %d %q", got.status, got.body)
	}
}

// withSecret is a kubelet of one pod whose environment holds a secret.
func withSecret() *fakeKubelet {
	return &fakeKubelet{pods: []api.Pod{{
		Name: "foo", Namespace: "default", UID: "u1", Source: "file",
		Manifest: api.ContainerManifest{ID: "foo", Containers: []api.Container{{
			Name: "c", Image: "busybox", Env: []api.EnvVar{{Name: "PASSWORD", Value: "s3cret"}, {Name: "EMPTY"}},
		}}},
	}}}
}

const secretPod = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[` +
	`{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default","annotations":{"kubernetes/config.source":"file"},` +
	`"spec":{"volumes":null,"containers":[{"name":"c","image":"busybox","env":[{"name":"PASSWORD","value":"s3cret"},{"name":"EMPTY"}],"imagePullPolicy":""}],` +
	`"restartPolicy":{"always":{}}}}]}` + "\n"

var hiddenPod = strings.NewReplacer("s3cret", hidden, `"EMPTY"`, `"EMPTY","value":"`+hidden+`"`).Replace(secretPod)

func TestBoundPodsAreThoseOf2014(t *testing.T) {
	k := withSecret()
	s := serve(t, k)
	got := ask(t, s, "GET /boundPods")
	if diff := cmp.Diff(hiddenPod, got.body); got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" || diff != "" {
		t.Errorf("it answers %d, %s (-want +got):\n%s", got.status, got.header.Get("Content-Type"), diff)
	}
	if value := k.pods[0].Manifest.Containers[0].Env[0].Value; value != "s3cret" {
		t.Errorf("the kubelet's own pod has got the value %q", value)
	}
	k.change(func() { k.pods = nil })
	if got := ask(t, s, "GET /boundPods"); got.body != `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[]}`+"\n" {
		t.Errorf("without pods it answers %s", got.body)
	}
}

// The values are for who could run a command in the container, and read them there.
func TestEnvironmentIsForWhoMayRunCommands(t *testing.T) {
	for name, tt := range map[string]struct {
		options func(*Options)
		as      func(*http.Request)
		query   string
		status  int
		body    string // empty: anything that does not hold the secret
	}{
		"not asked for, with the token": {nil, withToken, "?env=0", 200, hiddenPod},
		"with the token":                {nil, withToken, "?env=1", 200, secretPod},
		"without":                       {nil, nil, "?env=1", 401, ""},
		"with another token":            {nil, with("Authorization", "Bearer another-token-1234"), "?env=1", 401, ""},
		"with the cookie":               {nil, withCookie(testToken), "?env=1", 401, ""},
		"without debugging handlers":    {func(o *Options) { o.Debugging = false }, withToken, "?env=1", 403, ""},
		"a slip":                        {nil, withToken, "?env=all", 400, `env="all": it must be 1 or 0` + "\n"},
		"on a socket":                   {onSocket(t), nil, "?env=1", 200, secretPod},
		"on a socket, not asked for":    {onSocket(t), nil, "", 200, hiddenPod},
	} {
		var options []func(*Options)
		if tt.options != nil {
			options = append(options, tt.options)
		}
		d := doorOf(t, serve(t, withSecret(), options...), "")
		got := d.ask(t, "GET /boundPods"+tt.query, tt.as)
		if got.status != tt.status || tt.body != "" && got.body != tt.body || tt.body == "" && strings.Contains(got.body, "s3cret") {
			t.Errorf("%s: it answers %d %s", name, got.status, got.body)
		}
	}
}
