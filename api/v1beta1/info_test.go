package v1beta1_test

import (
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// encode is what a client of 2014 gets to read.
func encode(t *testing.T, version string, obj any) string {
	t.Helper()
	text, err := v1beta1.NewScheme().Encode(version, obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBoundPodsAreWrittenAsIn2014(t *testing.T) {
	pod := api.Pod{
		Name: "foo", Namespace: "default", UID: "u1", Source: "file", Origin: "/etc/foo.yaml",
		Manifest: api.ContainerManifest{
			Version: "v1beta1", ID: "foo", UUID: "u1",
			Containers: []api.Container{{Name: "c", Image: "busybox"}},
		},
	}
	const item = `{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default","annotations":{"kubernetes/config.source":"file"},"spec":{"volumes":null,"containers":[{"name":"c","image":"busybox","imagePullPolicy":""}],"restartPolicy":{"always":{}}}}`
	never := pod
	never.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
	never.Manifest.Containers = nil
	const neverItem = `{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default","annotations":{"kubernetes/config.source":"file"},"spec":{"volumes":null,"containers":[],"restartPolicy":{"never":{}}}}`

	for _, tt := range []struct {
		version string
		pods    []api.Pod
		want    string
	}{
		{"v1beta1", []api.Pod{pod}, `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[` + item + `]}`},
		{"v1beta1", []api.Pod{pod, never}, `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[` + item + `,` + neverItem + `]}`},
		{"v1beta2", []api.Pod{pod}, `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta2","host":"","items":[` + item + `]}`},
		{"v1beta1", nil, `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[]}`},
	} {
		if got := encode(t, tt.version, &api.BoundPods{Items: tt.pods}); got != tt.want {
			t.Errorf("%d pods of %s:\ngot  %s\nwant %s", len(tt.pods), tt.version, got, tt.want)
		}
	}
}

// What the kubelet knows of a container beyond what 2014 told is left out.
func TestPodInfoIsWrittenAsIn2014(t *testing.T) {
	began := time.Date(2014, 10, 23, 12, 0, 0, 0, time.UTC)
	before := &api.ContainerStateTerminated{ExitCode: 1}
	for name, tt := range map[string]struct {
		status api.ContainerStatus
		want   string
	}{
		"waiting": {
			api.ContainerStatus{Image: "busybox", State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: "Pulling", Message: "10 %", Next: began}}, Last: before},
			`{"state":{"waiting":{"reason":"Pulling"}},"restartCount":0,"image":"busybox"}`,
		},
		"running": {
			api.ContainerStatus{Image: "busybox", ImageID: "sha256:1", PodIP: "10.1.2.3", State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: began, Message: "unwell"}}},
			`{"state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"busybox"}`,
		},
		"ended": {
			api.ContainerStatus{Image: "busybox", RestartCount: 2, State: api.ContainerState{Terminated: &api.ContainerStateTerminated{
				ExitCode: 3, Reason: "Error", Message: "m", StartedAt: began, FinishedAt: began.Add(time.Second),
			}}},
			`{"state":{"termination":{"exitCode":3,"reason":"Error","message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}},"restartCount":2,"image":"busybox"}`,
		},
		"ended well, and nothing is known of when": {
			api.ContainerStatus{State: api.ContainerState{Terminated: &api.ContainerStateTerminated{}}},
			`{"state":{"termination":{"exitCode":0,"startedAt":"0001-01-01T00:00:00Z","finishedAt":"0001-01-01T00:00:00Z"}},"restartCount":0,"image":""}`,
		},
	} {
		if got, want := encode(t, "v1beta1", &api.PodInfo{"c": tt.status}), `{"c":`+tt.want+`}`; got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
	}
	if got := encode(t, "v1beta1", &api.PodInfo{"net": {}, "c": {}, "a": {}}); got != `{"a":{"state":{},"restartCount":0,"image":""},"c":{"state":{},"restartCount":0,"image":""},"net":{"state":{},"restartCount":0,"image":""}}` {
		t.Errorf("the containers are not in the order of their names: %s", got)
	}
}
