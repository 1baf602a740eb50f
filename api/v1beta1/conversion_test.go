package v1beta1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api/v1beta1"
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
		"key in v1beta2":         {"v1beta2", "containers: [{env: [{key: A}]}]", "", `2:27: containers[0].env[0].key: v1beta2 calls this field "name"`},
		"path in v1beta2":        {"v1beta2", "containers: [{volumeMounts: [{path: /a}]}]", "", `2:37: ` + at + `path: v1beta2 calls this field "mountPath"`},
		"mountType in v1beta2":   {"v1beta2", host, "", `2:69: ` + at + `mountType: v1beta2 has no mountType: give the volume a source, such as hostDir`},
		"HOST makes its volume":  {"v1beta1", host, mount + hostDir, ""},
		"two share that volume":  {"v1beta1", "containers: [{volumeMounts: [{name: v, mountPath: /data, mountType: HOST}, {name: v, path: /data, mountType: HOST}]}]", "containers: [{volumeMounts: [{name: v, mountPath: /data}, {name: v, mountPath: /data}]}]" + hostDir, ""},
		"HOST without a name":    {"v1beta1", "containers: [{volumeMounts: [{mountPath: /data, mountType: HOST}]}]", "containers: [{volumeMounts: [{mountPath: /data}]}]", ""},
		"HOST of that directory": {"v1beta1", host + hostDir, mount + hostDir, ""},
		"HOST of another one":    {"v1beta1", host + "\nvolumes: [{name: v, source: {hostDir: {path: /other}}}]", "", `2:69: ` + differs},
		"HOST of an emptyDir":    {"v1beta1", host + "\nvolumes: [{name: v}]", "", `2:69: ` + differs},
		"LOCAL of an emptyDir":   {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: LOCAL}]}]\nvolumes: [{name: v}]", "containers: [{volumeMounts: [{name: v}]}]\nvolumes: [{name: v}]", ""},
		"LOCAL of a hostDir":     {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: LOCAL}]}]" + hostDir, "", `2:51: ` + at + `mountType: volume "v" is a hostDir, which is not LOCAL: remove mountType`},
		"an unknown mountType":   {"v1beta1", "containers: [{volumeMounts: [{name: v, mountType: REMOTE}]}]", "", `2:51: ` + at + `mountType: unsupported value 'REMOTE': HOST or LOCAL`},
		// The same manifest has the same hash in whatever case its words are; unknown ones are for validation to refuse.
		"any case": {"V1Beta2", "containers: [{imagePullPolicy: pullalways, ports: [{protocol: tcp}, {protocol: Udp}, {protocol: sctp}]}, {imagePullPolicy: PULLNEVER}, {imagePullPolicy: Always}]",
			"containers: [{imagePullPolicy: PullAlways, ports: [{protocol: TCP}, {protocol: UDP}, {protocol: sctp}]}, {imagePullPolicy: PullNever}, {imagePullPolicy: Always}]", ""},
	} {
		scheme := v1beta1.NewScheme()
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
