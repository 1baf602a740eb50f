package v1beta1_test

import (
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/v1"
)

// BoundPods and PodInfo are written as in 2014, to the letter: what the kubelet knows beyond that is left out.
func TestInfoIsWrittenAsIn2014(t *testing.T) {
	began := time.Date(2014, 10, 23, 12, 0, 0, 0, time.UTC)
	info := func(s api.ContainerStatus) *api.PodInfo { return &api.PodInfo{"c": s} }
	pod := api.Pod{Name: "foo", Namespace: "default", UID: "u1", Source: "file", Origin: "/etc/foo.yaml", Manifest: api.ContainerManifest{
		Version: "v1beta1", ID: "foo", UUID: "u1", Containers: []api.Container{{Name: "c", Image: "busybox"}},
	}}
	never := pod
	never.Manifest.RestartPolicy.Never = &api.RestartPolicyNever{}
	never.Manifest.Containers = nil
	const head = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta1","host":"","items":[`
	const item = `{"id":"foo","uid":"u1","creationTimestamp":null,"namespace":"default","annotations":{"kubernetes/config.source":"file"},"spec":{"volumes":null,`
	const foo = item + `"containers":[{"name":"c","image":"busybox","imagePullPolicy":""}],"restartPolicy":{"always":{}}}}`
	for want, obj := range map[string]any{
		head + `]}`:       &api.BoundPods{},
		head + foo + `]}`: &api.BoundPods{Items: []api.Pod{pod}},
		head + foo + `,` + item + `"containers":[],"restartPolicy":{"never":{}}}}]}`: &api.BoundPods{Items: []api.Pod{pod, never}},

		`{"c":{"state":{"waiting":{"reason":"Pulling"}},"restartCount":0,"image":"busybox"}}`: info(api.ContainerStatus{
			Image: "busybox", Last: &api.ContainerStateTerminated{ExitCode: 1},
			State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: "Pulling", Message: "10 %", Next: began}},
		}),
		`{"c":{"state":{"running":{"startedAt":"2014-10-23T12:00:00Z"}},"restartCount":0,"podIP":"10.1.2.3","image":"busybox"}}`: info(api.ContainerStatus{
			Image: "busybox", ImageID: "sha256:1", PodIP: "10.1.2.3",
			State: api.ContainerState{Running: &api.ContainerStateRunning{StartedAt: began, Message: "unwell"}},
		}),
		`{"c":{"state":{"termination":{"exitCode":3,"reason":"Error","message":"m","startedAt":"2014-10-23T12:00:00Z","finishedAt":"2014-10-23T12:00:01Z"}},"restartCount":2,"image":"busybox"}}`: info(api.ContainerStatus{
			Image: "busybox", RestartCount: 2, State: api.ContainerState{Terminated: &api.ContainerStateTerminated{
				ExitCode: 3, Reason: "Error", Message: "m", StartedAt: began, FinishedAt: began.Add(time.Second)}},
		}),
		`{"c":{"state":{"termination":{"exitCode":0,"startedAt":"0001-01-01T00:00:00Z","finishedAt":"0001-01-01T00:00:00Z"}},"restartCount":0,"image":""}}`: info(api.ContainerStatus{
			State: api.ContainerState{Terminated: &api.ContainerStateTerminated{}},
		}),
		`{"a":{"state":{},"restartCount":0,"image":""},"c":{"state":{},"restartCount":0,"image":""}}`: &api.PodInfo{"c": {}, "a": {}},
	} {
		if got, err := v1.NewScheme().Encode("v1beta1", obj); err != nil || string(got) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
		}
	}
	const second = `{"kind":"BoundPods","creationTimestamp":null,"apiVersion":"v1beta2","host":"","items":[]}`
	if got, err := v1.NewScheme().Encode("v1beta2", &api.BoundPods{}); err != nil || string(got) != second {
		t.Errorf("v1beta2: %s, %v", got, err)
	}
}
