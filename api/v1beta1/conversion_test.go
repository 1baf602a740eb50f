package v1beta1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/v1"
)

// Each row is a manifest in old words, and either the same in new words, or the error.
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
		got, err := scheme.Decode("f", []byte("version: "+tt.version+"\n"+tt.old+"\n"))
		if tt.err != "" {
			if err == nil || err.Error() != "f:"+tt.err {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		want, errWant := scheme.Decode("f", []byte("version: "+tt.version+"\n"+tt.now+"\n"))
		if err != nil || errWant != nil {
			t.Errorf("%s: %v, %v", name, err, errWant)
		} else if diff := cmp.Diff(want[0].Manifest, got[0].Manifest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
