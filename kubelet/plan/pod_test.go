package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
)

func newPod(pod api.Pod) *plan.Pod {
	return plan.NewPod(pod, "kubelet14/pause:1", time.Time{})
}

func hashes(pod api.Pod) map[string]string {
	p := newPod(pod)
	h := map[string]string{}
	for _, c := range p.Containers() {
		h[c.Name] = c.Hash
	}
	return h
}

// TestHashesGolden: the hashes are part of the names of running containers. If one of them
// changes, an upgrade replaces every such container of every user.
func TestHashesGolden(t *testing.T) {
	want := map[string]string{"net": "b17157e8", "web": "365c5be8", "side": "53884e61"}
	if diff := cmp.Diff(want, hashes(plantest.FullPod())); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
}

// TestServicesGolden: these hashes are in labels. If one of them changes, every container of every user seems to lack what its services
// give since an upgrade.
func TestServicesGolden(t *testing.T) {
	pod := plantest.FullPod()
	pod.Manifest.Labels = map[string]string{"app": "web"}
	pod.Manifest.Services = []api.Service{{Name: "pages", Selector: pod.Manifest.Labels, Ports: []api.Port{{ContainerPort: 80, Protocol: api.ProtocolTCP}}}}
	p := newPod(pod)
	if got, want := p.Network.Services+" "+p.Apps[0].Services, "291947017d65bd1b 5badc46895e24871"; got != want {
		t.Errorf("hashes %q, want %q", got, want)
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
		{"the host's network", func(m *api.ContainerManifest) {
			m.HostNetwork = true
			m.Containers[0].Ports = m.Containers[0].Ports[2:]
		}, "net web"},
		{"the host name", func(m *api.ContainerManifest) { m.Hostname = "other" }, "net"},
		{"a host alias", func(m *api.ContainerManifest) { m.HostAliases = []api.HostAlias{{IP: "10.0.0.1"}} }, "net"},
		{"the DNS", func(m *api.ContainerManifest) { m.DNS = &api.DNSConfig{} }, "net"},
		{"the subdomain", func(m *api.ContainerManifest) { m.Subdomain = "a" }, "net"},
		{"shared processes", func(m *api.ContainerManifest) { m.ShareProcessNamespace = true }, "net web side"},
		{"the host's processes", func(m *api.ContainerManifest) { m.HostPID = true }, "web side"},
		{"the host's IPC", func(m *api.ContainerManifest) { m.HostIPC = true }, "web side"},
		{"the groups", func(m *api.ContainerManifest) { m.SupplementalGroups = []int64{1} }, "web side"},
		{"the group of volumes", func(m *api.ContainerManifest) { m.FSGroup = new(int64) }, "web side"},
		{"an init container", func(m *api.ContainerManifest) { m.InitContainers = []api.Container{{Name: "init"}} }, "web side"},
		{"a sidecar with a port", func(m *api.ContainerManifest) {
			m.InitContainers = []api.Container{{Name: "init", Sidecar: true, Ports: []api.Port{{HostPort: 81, ContainerPort: 81}}}}
		}, "net web side"},
		{"the deadline", func(m *api.ContainerManifest) { m.ActiveDeadlineSeconds = new(int64(1)) }, ""},
		{"labels, annotations and the grace", func(m *api.ContainerManifest) {
			m.Labels, m.Annotations, m.TerminationGracePeriodSeconds = map[string]string{"a": "b"}, map[string]string{"a": "b"}, new(int64)
		}, ""},
		{"what counts for an eviction", func(m *api.ContainerManifest) {
			m.Priority, m.PriorityClassName, m.Containers[0].MemoryRequest = 1, "a", 1<<20
		}, ""},
		{"a volume of an init container", func(m *api.ContainerManifest) {
			m.InitContainers = []api.Container{{Name: "init", VolumeMounts: []api.VolumeMount{{Name: "scratch"}}}}
			before := hashes(api.Pod{Manifest: *m})
			m.Volumes[0].Source = &api.VolumeSource{HostDir: &api.HostDir{}}
			if after := hashes(api.Pod{Manifest: *m}); after["side"] == before["side"] || after["init"] == before["init"] {
				t.Errorf("the hash of a container that starts after an edited init container is the same")
			}
		}, "web side"},
		{"the order of containers", func(m *api.ContainerManifest) {
			m.Containers[0], m.Containers[1] = m.Containers[1], m.Containers[0]
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			edited := plantest.FullPod()
			tt.edit(&edited.Manifest)
			before, after := hashes(plantest.FullPod()), hashes(edited)
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

// In the host's network a container opens its ports on the host.
func TestPortsInTheNetworkOfTheHost(t *testing.T) {
	pod := plantest.FullPod()
	pod.Manifest.HostNetwork = true
	var got []int
	for _, port := range newPod(pod).Ports {
		got = append(got, port.HostPort)
	}
	if diff := cmp.Diff([]int{53, 80, 9000}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
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
