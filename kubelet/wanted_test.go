package kubelet

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/volume"
)

// fullPod uses every field that reaches Docker.
func fullPod() api.Pod {
	return api.Pod{
		Name: "www", Namespace: "default", UID: "u-1", Source: "file", Origin: "www.yaml",
		Manifest: api.ContainerManifest{
			Version: "v1beta1", ID: "www", UUID: "u-1",
			Volumes: []api.Volume{
				{Name: "scratch"},
				{Name: "disk", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: "/mnt/disk"}}},
			},
			Containers: []api.Container{{
				Name: "web", Image: "busybox", Command: []string{"httpd", "-f"}, WorkingDir: "/srv",
				Ports: []api.Port{
					{Name: "http", HostPort: 8080, ContainerPort: 80, HostIP: "127.0.0.1"},
					{HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
					{ContainerPort: 9000},
				},
				Env:    []api.EnvVar{{Name: "A", Value: "1"}, {Name: "EMPTY"}, {Name: "B", Value: "x=y"}},
				Memory: 64 << 20, CPU: 500, Privileged: true,
				VolumeMounts:  []api.VolumeMount{{Name: "disk", MountPath: "/data", ReadOnly: true}},
				LivenessProbe: &api.LivenessProbe{HTTPGet: &api.HTTPGetAction{Path: "/", Port: api.IntOrString{Str: "http"}}},
			}, {
				Name: "side", Image: "busybox",
			}},
		},
	}
}

// The hashes are part of the names of running containers: when one of these
// changes, every such container of every user is replaced at the next upgrade.
func TestHashesGolden(t *testing.T) {
	w := newWantedPod(fullPod(), "kubelet14/pause:1")
	got := map[string]string{w.net.name: w.net.hash, w.apps[0].name: w.apps[0].hash, w.apps[1].name: w.apps[1].hash}
	want := map[string]string{"net": "b17157e8", "web": "365c5be8", "side": "53884e61"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
	if got, want := api.NewUID("host", "file", "default", "www"), "14055da564af9a34231a46362cb9dfbb"; got != want {
		t.Errorf("uid %s, want %s", got, want)
	}
}

// TestWhatChangesAHash: an edit replaces the containers it is about, and no other.
func TestWhatChangesAHash(t *testing.T) {
	tests := []struct {
		name    string
		edit    func(m *api.ContainerManifest)
		changed string // names of the containers whose hash must change
	}{
		{"nothing", func(*api.ContainerManifest) {}, ""},
		{"env", func(m *api.ContainerManifest) { m.Containers[1].Env = []api.EnvVar{{Name: "X"}} }, "side"},
		{"a probe", func(m *api.ContainerManifest) { m.Containers[0].LivenessProbe.HTTPGet.Path = "/ok" }, "web"},
		{"a mounted volume", func(m *api.ContainerManifest) { m.Volumes[1].Source.HostDir.Path = "/mnt/other" }, "web"},
		{"a volume nobody mounts", func(m *api.ContainerManifest) { m.Volumes[0].Name = "other" }, ""},
		{"a published port", func(m *api.ContainerManifest) { m.Containers[0].Ports[0].HostPort = 81 }, "net web"},
		{"a port that is not published", func(m *api.ContainerManifest) { m.Containers[0].Ports[2].ContainerPort = 81 }, "web"},
		{"the restart policy", func(m *api.ContainerManifest) { m.RestartPolicy.Never = &api.RestartPolicyNever{} }, ""},
		{"the order of containers", func(m *api.ContainerManifest) {
			m.Containers[0], m.Containers[1] = m.Containers[1], m.Containers[0]
		}, ""},
	}
	hashes := func(pod api.Pod) map[string]string {
		w := newWantedPod(pod, "pause")
		h := map[string]string{"net": w.net.hash}
		for _, app := range w.apps {
			h[app.name] = app.hash
		}
		return h
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := hashes(fullPod())
			edited := fullPod()
			tt.edit(&edited.Manifest)
			var changed []string
			for _, name := range []string{"net", "web", "side"} {
				if hashes(edited)[name] != before[name] {
					changed = append(changed, name)
				}
			}
			if got := strings.Join(changed, " "); got != tt.changed {
				t.Errorf("changed %q, want %q", got, tt.changed)
			}
		})
	}
}

func TestPodHostname(t *testing.T) {
	for name, want := range map[string]string{
		"www":                           "www",
		"a.b.c":                         "a.b.c",
		strings.Repeat("x", 64):         strings.Repeat("x", 63),
		strings.Repeat("x", 62) + "-yz": strings.Repeat("x", 62),
		strings.Repeat("x", 62) + ".yz": strings.Repeat("x", 62),
	} {
		if got := podHostname(name); got != want {
			t.Errorf("%q: host name %q, want %q", name, got, want)
		}
	}
}

func TestContainerSpec(t *testing.T) {
	root, err := volume.OpenRootDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	logs := dockertools.LogLimit{MaxSize: 1000, MaxFiles: 2}
	kl := NewMainKubelet(Options{
		Identity: dockertools.Identity{Hostname: "host", RootDir: "/root/dir"}, NetworkContainerImage: dockertools.PauseImage, AllowPrivileged: true,
		Docker: dockertest.NewFake(), Volumes: root, ContainerLog: logs,
	})
	kl.logLimit = logs
	w := newWantedPod(fullPod(), dockertools.PauseImage)
	name := dockertools.NameParts{Name: "web", Hash: "1", PodFullName: w.fullName, UID: "u-1", Attempt: 2}
	got, err := kl.containerSpec(t.Context(), w, action{name: name, want: &w.apps[0], quickEnds: 3, lifecycle: "{}", netID: "net-id"})
	if err != nil {
		t.Fatal(err)
	}
	want := dockertools.ContainerSpec{
		Name: "k8s_web.1_www.default.file_u-1_2", Image: "busybox", Command: []string{"httpd", "-f"}, WorkingDir: "/srv",
		Env: []string{"A=1", "EMPTY=", "B=x=y"}, Memory: 64 << 20, CPUShares: 512, Privileged: true,
		Mounts: []dockertools.Mount{
			{HostPath: "/mnt/disk", ContainerPath: "/data", ReadOnly: true},
			{HostPath: root.Path() + "/pods/u-1/termination/web.2", ContainerPath: "/dev/termination-log"},
		},
		Log:              logs,
		NetworkContainer: "net-id",
		Labels: map[string]string{
			"kubelet14.hostname": "host", "kubelet14.root_dir": "/root/dir", "kubelet14.name": "k8s_web.1_www.default.file_u-1_2",
			"kubelet14.origin": "www.yaml", "kubelet14.network_container": "net-id", "kubelet14.quick_ends": "3", "kubelet14.lifecycle": "{}",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("app container (-want +got):\n%s", diff)
	}

	got, err = kl.containerSpec(t.Context(), w, action{name: dockertools.NameParts{Name: "net", Hash: "2", PodFullName: w.fullName, UID: "u-1", Attempt: 1}, want: &w.net})
	if err != nil {
		t.Fatal(err)
	}
	want = dockertools.ContainerSpec{
		Name: "k8s_net.2_www.default.file_u-1_1", Image: dockertools.PauseImage, Entrypoint: []string{"/pause"}, StopSignal: "SIGKILL", Hostname: "www", Log: logs,
		Ports: []dockertools.PublishedPort{
			{HostPort: 53, ContainerPort: 53, Protocol: "udp"},
			{HostIP: "127.0.0.1", HostPort: 8080, ContainerPort: 80, Protocol: "tcp"},
		},
		Labels: map[string]string{
			"kubelet14.hostname": "host", "kubelet14.root_dir": "/root/dir", "kubelet14.name": "k8s_net.2_www.default.file_u-1_1", "kubelet14.origin": "www.yaml",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("network container (-want +got):\n%s", diff)
	}
}

func TestPrivilegedNeedsTheFlag(t *testing.T) {
	kl := NewMainKubelet(Options{})
	w := newWantedPod(fullPod(), dockertools.PauseImage)
	if _, err := kl.containerSpec(t.Context(), w, action{want: &w.apps[0], netID: "net-id"}); err == nil || !strings.Contains(err.Error(), "-allow_privileged") {
		t.Errorf("error %v, want one that names -allow_privileged", err)
	}
}

func TestCPUShares(t *testing.T) {
	for milli, want := range map[int64]int64{0: 0, 1: 2, 100: 102, 500: 512, 1000: 1024, 4000: 4096} {
		if got := cpuShares(milli); got != want {
			t.Errorf("%d thousandths of a core: %d shares, want %d", milli, got, want)
		}
	}
}

// Nobody changes a Kubelet from outside: it is made whole by NewMainKubelet (PR #551).
func TestKubeletHasNoExportedField(t *testing.T) {
	for field := range reflect.TypeFor[Kubelet]().Fields() {
		if field.IsExported() {
			t.Errorf("field %s is exported", field.Name)
		}
	}
}
