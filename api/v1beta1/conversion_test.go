package v1beta1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1"
)

// Each row is a manifest in old words, and either the same manifest in new words or the error.
func TestOldWords(t *testing.T) {
	const (
		mount   = "containers: [{volumeMounts: [{name: v, mountPath: /data}]}]"
		host    = "containers: [{volumeMounts: [{name: v, mountPath: /data, mountType: HOST}]}]"
		hostDir = "\nvolumes: [{name: v, source: {hostDir: {path: /data}}}]"
		at      = "containers[0].volumeMounts[0]."
		differs = at + `mountType: HOST means the host's directory "/data", but volume "v" is something else: remove mountType`
	)
	for name, tt := range map[string]struct{ version, old, now, err string }{
		"old names":              {"v1beta1", "containers: [{env: [{key: A, value: a}], volumeMounts: [{name: v, path: /p}]}]", "containers: [{env: [{name: A, value: a}], volumeMounts: [{name: v, mountPath: /p}]}]", ""},
		"both names":             {"v1beta1", "containers: [{env: [{key: A, name: A}]}]", "containers: [{env: [{name: A}]}]", ""},
		"names that differ":      {"v1beta1", "containers: [{env: [{key: A, name: B}]}]", "", `2:27: containers[0].env[0].key: this is the old name of "name", and the two differ: remove "key"`},
		"HOST makes its volume":  {"v1beta1", host, mount + hostDir, ""},
		"two share that volume":  {"v1beta1", "containers: [{volumeMounts: [{name: v, mountPath: /data, mountType: HOST}, {name: v, path: /data, mountType: HOST}]}]", "containers: [{volumeMounts: [{name: v, mountPath: /data}, {name: v, mountPath: /data}]}]" + hostDir, ""},
		"HOST without a name":    {"v1beta1", "containers: [{volumeMounts: [{mountPath: /data, mountType: HOST}]}]", "containers: [{volumeMounts: [{mountPath: /data}]}]", ""},
		"HOST of that directory": {"v1beta1", host + hostDir, mount + hostDir, ""},
		"HOST of another one":    {"v1beta1", host + "\nvolumes: [{name: v, source: {hostDir: {path: /other}}}]", "", `2:69: ` + differs},
		"HOST of an emptyDir":    {"v1beta1", host + "\nvolumes: [{name: v}]", "", `2:69: ` + differs},
		"LOCAL of an emptyDir":   {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: LOCAL}]}]\nvolumes: [{name: v}]", "containers: [{volumeMounts: [{name: v}]}]\nvolumes: [{name: v}]", ""},
		"LOCAL of a hostDir":     {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: LOCAL}]}]" + hostDir, "", `2:51: ` + at + `mountType: volume "v" is a hostDir, which is not LOCAL: remove mountType`},
		"an unknown mountType":   {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: REMOTE}]}]", "", `2:51: ` + at + `mountType: unsupported value 'REMOTE': HOST or LOCAL`},
		"type of the probe":      {"v1beta1", "containers: [{livenessProbe: {type: HTTP, enabled: true, httpGet: {port: 80}}}]", "containers: [{livenessProbe: {httpGet: {port: 80}}}]", ""},
		"no probe":               {"v1beta1", "containers: [{livenessProbe: {enabled: false, type: tcp}}]", "containers: [{}]", ""},
		"another probe":          {"v1beta1", "containers: [{livenessProbe: {type: tcp, httpGet: {port: 80}}}]", "", `2:37: containers[0].livenessProbe.type: the probe has no action of the type tcp: remove type`},
		"an unknown probe":       {"v1beta1", "containers: [{livenessProbe: {type: https, httpGet: {port: 80}}}]", "", `2:37: containers[0].livenessProbe.type: unsupported value 'https': did you mean "http"?`},
		"texts without quotes":   {"v1beta1", "containers: [{command: [1.10, 010, true, 1e3], env: [{name: A, value: 0x10}], lifecycle: {preStop: {exec: {command: [no, 1_0]}}}}]", `containers: [{command: ["1.10", "010", "true", "1e3"], env: [{name: A, value: "0x10"}], lifecycle: {preStop: {exec: {command: ["no", "1_0"]}}}}]`, ""},
		"later pull policies":    {"v1beta2", "containers: [{imagePullPolicy: never}, {imagePullPolicy: Always}, {imagePullPolicy: ifnotpresent}]", "containers: [{imagePullPolicy: PullNever}, {imagePullPolicy: PullAlways}, {imagePullPolicy: PullIfNotPresent}]", ""},
		"a misspelt policy":      {"v1beta1", "containers: [{imagePullPolicy: PullAllways}]", "", `2:32: containers[0].imagePullPolicy: unsupported value 'PullAllways': did you mean "PullAlways"?`},
		// The same manifest has the same hash in whatever case its words are; an unknown protocol is for validation to refuse.
		"any case": {"V1Beta2", "containers: [{imagePullPolicy: pullalways, ports: [{protocol: tcp}, {protocol: Udp}, {protocol: sctp}]}, {imagePullPolicy: PULLNEVER}]",
			"containers: [{imagePullPolicy: PullAlways, ports: [{protocol: TCP}, {protocol: UDP}, {protocol: sctp}]}, {imagePullPolicy: PullNever}]", ""},
	} {
		scheme := v1.NewScheme()
		got, err := scheme.Decode("f", []byte("version: "+tt.version+"\n"+tt.old+"\n"), nil)
		if tt.err != "" {
			if err == nil || err.Error() != "f:"+tt.err {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want, errWant := scheme.Decode("f", []byte("version: "+tt.version+"\n"+tt.now+"\n"), nil)
		if err != nil || errWant != nil {
			t.Errorf("%s: %v, %v", name, err, errWant)
		} else if diff := cmp.Diff(want[0].Manifest, got[0].Manifest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// BoundPods and PodInfo are written exactly as in 2014: newer fields are left out.
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
