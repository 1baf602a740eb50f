package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// fullPod uses every field that a hash is made of.
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

func newPod(pod api.Pod) *plan.Pod {
	return plan.NewPod(pod, "kubelet14/pause:1", time.Time{}, func(*api.Container) string { return "" })
}

func hashes(pod api.Pod) map[string]string {
	p := newPod(pod)
	h := map[string]string{}
	for _, name := range p.Names() {
		h[name] = p.Container(name).Hash
	}
	return h
}

// TestHashesGolden: the hashes are part of the names of running containers. If one of them
// changes, an upgrade replaces every such container of every user.
func TestHashesGolden(t *testing.T) {
	want := map[string]string{"net": "b17157e8", "web": "365c5be8", "side": "53884e61"}
	if diff := cmp.Diff(want, hashes(fullPod())); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
	if got, want := api.NewUID("host", "file", "default", "www"), "14055da564af9a34231a46362cb9dfbb"; got != want {
		t.Errorf("uid %s, want %s", got, want)
	}
}

// TestWhatChangesAHash: an edit replaces the containers that it changes, and no other.
func TestWhatChangesAHash(t *testing.T) {
	tests := []struct {
		name    string
		edit    func(m *api.ContainerManifest)
		changed string // the containers whose hash must change
	}{
		{"nothing", func(*api.ContainerManifest) {}, ""},
		{"env", func(m *api.ContainerManifest) { m.Containers[1].Env = []api.EnvVar{{Name: "X"}} }, "side"},
		{"a probe", func(m *api.ContainerManifest) { m.Containers[0].LivenessProbe.HTTPGet.Path = "/ok" }, "web"},
		{"a mounted volume", func(m *api.ContainerManifest) { m.Volumes[1].Source.HostDir.Path = "/mnt/other" }, "web"},
		{"a volume that is not mounted", func(m *api.ContainerManifest) { m.Volumes[0].Name = "other" }, ""},
		{"a published port", func(m *api.ContainerManifest) { m.Containers[0].Ports[0].HostPort = 81 }, "net web"},
		{"a port that is not published", func(m *api.ContainerManifest) { m.Containers[0].Ports[2].ContainerPort = 81 }, "web"},
		{"the restart policy", func(m *api.ContainerManifest) { m.RestartPolicy.Never = &api.RestartPolicyNever{} }, ""},
		{"the order of containers", func(m *api.ContainerManifest) {
			m.Containers[0], m.Containers[1] = m.Containers[1], m.Containers[0]
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			edited := fullPod()
			tt.edit(&edited.Manifest)
			before, after := hashes(fullPod()), hashes(edited)
			var changed []string
			for _, name := range []string{"net", "web", "side"} {
				if after[name] != before[name] {
					changed = append(changed, name)
				}
			}
			if got := strings.Join(changed, " "); got != tt.changed {
				t.Errorf("changed %q, want %q", got, tt.changed)
			}
		})
	}
}

func TestHostname(t *testing.T) {
	for name, want := range map[string]string{
		"www":                           "www",
		"a.b.c":                         "a.b.c",
		strings.Repeat("x", 64):         strings.Repeat("x", 63),
		strings.Repeat("x", 62) + "-yz": strings.Repeat("x", 62),
		strings.Repeat("x", 62) + ".yz": strings.Repeat("x", 62),
	} {
		if got := newPod(api.Pod{Name: name}).Hostname; got != want {
			t.Errorf("%q: host name %q, want %q", name, got, want)
		}
	}
}

func TestRestartDelay(t *testing.T) {
	want := []time.Duration{0, 0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}
	for crashes, delay := range want {
		if got := plan.RestartDelay(crashes, time.Minute); got != delay {
			t.Errorf("after %d crashes: %v, want %v", crashes, got, delay)
		}
	}
	if got := plan.RestartDelay(1<<40, time.Minute); got != time.Minute {
		t.Errorf("after very many crashes: %v, want the limit", got)
	}
	if got := plan.RestartDelay(2, time.Millisecond); got != time.Millisecond {
		t.Errorf("the limit is shorter than the first delay: %v, want the limit", got)
	}
}

// TestStartFailure reads what Docker 20.10 reports.
func TestStartFailure(t *testing.T) {
	const oci = "API error (400): failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	for _, tt := range []struct{ text, reason, message string }{
		{oci + `exec: "/no": stat /no: no such file or directory: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "/no": stat /no: no such file or directory`},
		{oci + `exec: "no": executable file not found in $PATH: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "no": executable file not found in $PATH`},
		{oci + `exec: "/etc": permission denied: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "/etc": permission denied`},
		{"Bind for 0.0.0.0:80 failed: port is already allocated", api.ReasonPortTaken,
			"could not start: Bind for 0.0.0.0:80 failed: port is already allocated"},
		{"listen tcp4 0.0.0.0:80: bind: address already in use", api.ReasonPortTaken,
			"could not start: listen tcp4 0.0.0.0:80: bind: address already in use"},
		{"the moon is full", api.ReasonCannotStart, "could not start: the moon is full"},
	} {
		if reason, message := plan.StartFailure(tt.text); reason != tt.reason || message != tt.message {
			t.Errorf("%s:\n got %s: %s\nwant %s: %s", tt.text, reason, message, tt.reason, tt.message)
		}
	}
}
