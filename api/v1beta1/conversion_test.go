package v1beta1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// internalize converts a manifest of one container with one mount and one
// variable.
func internalize(t *testing.T, version string, volumes []api.Volume, m v1beta1.VolumeMount, e v1beta1.EnvVar) (*api.ContainerManifest, string) {
	t.Helper()
	obj, err := v1beta1.NewScheme().Internalize(version, &v1beta1.ContainerManifest{
		Volumes:    volumes,
		Containers: []v1beta1.Container{{VolumeMounts: []v1beta1.VolumeMount{m}, Env: []v1beta1.EnvVar{e}}},
	})
	if err != nil {
		return nil, err.Error()
	}
	return obj.(*api.ContainerManifest), ""
}

func TestOldNamesMeanTheNewOnes(t *testing.T) {
	for name, tt := range map[string]struct {
		mount v1beta1.VolumeMount
		env   v1beta1.EnvVar
	}{
		"new":           {v1beta1.VolumeMount{Name: "v", MountPath: "/p"}, v1beta1.EnvVar{Name: "A", Value: "1"}},
		"old":           {v1beta1.VolumeMount{Name: "v", Path: "/p"}, v1beta1.EnvVar{Key: "A", Value: "1"}},
		"both the same": {v1beta1.VolumeMount{Name: "v", Path: "/p", MountPath: "/p"}, v1beta1.EnvVar{Key: "A", Name: "A", Value: "1"}},
	} {
		m, refusal := internalize(t, "v1beta1", nil, tt.mount, tt.env)
		if refusal != "" {
			t.Errorf("%s: %s", name, refusal)
			continue
		}
		c := m.Containers[0]
		if got, want := c.VolumeMounts[0], (api.VolumeMount{Name: "v", MountPath: "/p"}); got != want {
			t.Errorf("%s: %+v", name, got)
		}
		if got, want := c.Env[0], (api.EnvVar{Name: "A", Value: "1"}); got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestOldNamesAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		version string
		mount   v1beta1.VolumeMount
		env     v1beta1.EnvVar
		want    string
	}{
		"two names that differ": {"v1beta1", v1beta1.VolumeMount{Path: "/a", MountPath: "/b"}, v1beta1.EnvVar{Key: "A", Name: "B"},
			`containers[0].env[0].key: this is the old name of "name", and the two differ: remove "key"; ` +
				`containers[0].volumeMounts[0].path: this is the old name of "mountPath", and the two differ: remove "path"`},
		"v1beta2": {"v1beta2", v1beta1.VolumeMount{Path: "/a", MountType: "HOST"}, v1beta1.EnvVar{Key: "A"},
			`containers[0].env[0].key: v1beta2 calls this field "name"; ` +
				`containers[0].volumeMounts[0].path: v1beta2 calls this field "mountPath"; ` +
				`containers[0].volumeMounts[0].mountType: v1beta2 has no mountType: give the volume a source, such as hostDir`},
	} {
		if _, refusal := internalize(t, tt.version, nil, tt.mount, tt.env); refusal != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, refusal, tt.want)
		}
	}
}

func TestMountType(t *testing.T) {
	host := func(path string) *api.VolumeSource {
		return &api.VolumeSource{HostDir: &api.HostDir{Path: path}}
	}
	inHost := &api.VolumeSource{HostDir: &api.HostDir{Path: "/data"}}
	const differs = `containers[0].volumeMounts[0].mountType: HOST means the host's directory "/data", but volume "v" is something else: remove mountType`
	for name, tt := range map[string]struct {
		volumes   []api.Volume
		mountType string
		want      []api.Volume
		refusal   string
	}{
		"HOST brings its volume":       {nil, "HOST", []api.Volume{{Name: "v", Source: inHost}}, ""},
		"HOST of that very directory":  {[]api.Volume{{Name: "v", Source: host("/data")}}, "HOST", []api.Volume{{Name: "v", Source: inHost}}, ""},
		"HOST of another directory":    {[]api.Volume{{Name: "v", Source: host("/other")}}, "HOST", nil, differs},
		"HOST of an emptyDir":          {[]api.Volume{{Name: "v"}}, "HOST", nil, differs},
		"LOCAL of an emptyDir":         {[]api.Volume{{Name: "v"}}, "LOCAL", []api.Volume{{Name: "v"}}, ""},
		"LOCAL of a host's directory":  {[]api.Volume{{Name: "v", Source: host("/data")}}, "LOCAL", nil, `containers[0].volumeMounts[0].mountType: volume "v" is a hostDir, which is not LOCAL: remove mountType`},
		"a word nobody ever specified": {nil, "REMOTE", nil, `containers[0].volumeMounts[0].mountType: unsupported value 'REMOTE': HOST or LOCAL`},
	} {
		m, refusal := internalize(t, "v1beta1", tt.volumes, v1beta1.VolumeMount{Name: "v", MountPath: "/data", MountType: tt.mountType}, v1beta1.EnvVar{})
		if refusal != tt.refusal {
			t.Errorf("%s: refused with %q", name, refusal)
		}
		if m != nil {
			if diff := cmp.Diff(tt.want, m.Volumes); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestTwoMountsShareTheVolumeThatHOSTBrings(t *testing.T) {
	mount := v1beta1.VolumeMount{Name: "v", MountPath: "/data", MountType: "HOST"}
	container := v1beta1.Container{VolumeMounts: []v1beta1.VolumeMount{mount}}
	obj, err := v1beta1.NewScheme().Internalize("v1beta1", &v1beta1.ContainerManifest{Containers: []v1beta1.Container{container, container}})
	if err != nil {
		t.Fatal(err)
	}
	if volumes := obj.(*api.ContainerManifest).Volumes; len(volumes) != 1 {
		t.Errorf("got %+v", volumes)
	}
}

// A volume of no name would be refused as well, and nobody has written it.
func TestHOSTWithoutANameBringsNoVolume(t *testing.T) {
	m, refusal := internalize(t, "v1beta1", nil, v1beta1.VolumeMount{MountPath: "/data", MountType: "HOST"}, v1beta1.EnvVar{})
	if refusal != "" || len(m.Volumes) > 0 {
		t.Errorf("got %+v, refused with %q", m, refusal)
	}
}

// The same manifest must have the same hash in whatever case its words are.
func TestWordsInAnyCaseBecomeOneSpelling(t *testing.T) {
	obj, err := v1beta1.NewScheme().Internalize("V1Beta2", &v1beta1.ContainerManifest{Version: "V1Beta2", Containers: []v1beta1.Container{
		{ImagePullPolicy: "pullalways", Ports: []api.Port{{Protocol: "tcp"}, {Protocol: "Udp"}}},
		{ImagePullPolicy: "PULLNEVER", Ports: []api.Port{{Protocol: "sctp"}}},
		{ImagePullPolicy: "Always"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := &api.ContainerManifest{Version: "v1beta2", Containers: []api.Container{
		{ImagePullPolicy: api.PullAlways, Ports: []api.Port{{Protocol: api.ProtocolTCP}, {Protocol: api.ProtocolUDP}}},
		{ImagePullPolicy: api.PullNever, Ports: []api.Port{{Protocol: "sctp"}}}, // for validation to refuse
		{ImagePullPolicy: "Always"},
	}}
	if diff := cmp.Diff(want, obj); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
