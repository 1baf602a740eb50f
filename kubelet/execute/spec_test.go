package execute

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/configmaps"
	"kubelet14/kubelet/dns"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
	"kubelet14/kubelet/status"
	"kubelet14/volume"
)

// newExecutor makes an executor with a root_dir.
func newExecutor(t *testing.T) *Executor {
	root, err := volume.OpenRootDir(t.TempDir())
	unittest.Must(t, err)
	t.Cleanup(func() { root.Close() })
	return &Executor{
		Docker: dockertest.NewFake(), Identity: dockertools.Identity{Hostname: "host", RootDir: root.Path()}, Volumes: root,
		Configs:      configmaps.NewStore(root, nil, nil, nil),
		NetworkImage: dockertools.PauseImage, PodNetwork: "pods", Doing: &status.Doing{},
	}
}

// specOf sets up the volumes of a container and returns its spec.
func specOf(t *testing.T, e *Executor, pod *plan.Pod, a plan.Action) (dockertools.ContainerSpec, error) {
	t.Helper()
	mounts, err := e.setUpVolumes(t.Context(), pod, a)
	unittest.Must(t, err)
	return e.containerSpec(pod, a, mounts)
}

func TestContainerSpec(t *testing.T) {
	e := newExecutor(t)
	root := e.Volumes.Path()
	logs := dockertools.LogLimit{MaxSize: 1000, MaxFiles: 2}
	e.LogLimit = logs
	pod := plan.NewPod(plantest.FullPod(), dockertools.PauseImage, time.Now())
	name := dockertools.NameParts{Name: "web", Hash: "1", PodFullName: pod.FullName(), UID: "u-1", Attempt: 2}
	got, err := specOf(t, e, pod, plan.Action{Name: name, Container: &pod.Apps[0], Crashes: 3, Restarts: 4, Lifecycle: "{}", NetworkID: "net-id"})
	if err != nil {
		t.Fatal(err)
	}
	want := dockertools.ContainerSpec{
		Name: "k8s_web.1_www.default.file_u-1_2", Image: "busybox", Command: []string{"httpd", "-f"}, WorkingDir: "/srv",
		Env: []string{"A=1", "EMPTY=", "B=x=y"}, Memory: 64 << 20, CPUShares: 512, Privileged: true,
		Mounts: []dockertools.Mount{
			{HostPath: "/mnt/disk", ContainerPath: "/data", ReadOnly: true},
			{HostPath: root + "/pods/u-1/termination/web.2", ContainerPath: "/dev/termination-log"},
		},
		Log:              logs,
		NetworkContainer: "net-id",
		Labels: map[string]string{
			"kubelet14.hostname": "host", "kubelet14.root_dir": root, "kubelet14.name": "k8s_web.1_www.default.file_u-1_2",
			"kubelet14.origin": "www.yaml", "kubelet14.network_container": "net-id", "kubelet14.quick_ends": "3", "kubelet14.lifecycle": "{}",
			"kubelet14.restarts": "4",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("app container (-want +got):\n%s", diff)
	}

	name = dockertools.NameParts{Name: "net", Hash: "2", PodFullName: pod.FullName(), UID: "u-1", Attempt: 1}
	got, err = specOf(t, e, pod, plan.Action{Name: name, Container: &pod.Network})
	if err != nil {
		t.Fatal(err)
	}
	want = dockertools.ContainerSpec{
		Name: "k8s_net.2_www.default.file_u-1_1", Image: dockertools.PauseImage, Entrypoint: []string{"/pause"},
		StopSignal: "SIGKILL", Hostname: "www", Log: logs, Network: "pods", Aliases: []string{"www.default"},
		DNS: dns.InNamespace("default", nil, dns.HostSearches()),
		Ports: []api.Port{
			{HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
			{HostIP: "127.0.0.1", HostPort: 8080, ContainerPort: 80, Protocol: api.ProtocolTCP},
		},
		Labels: map[string]string{
			"kubelet14.hostname": "host", "kubelet14.root_dir": root, "kubelet14.name": "k8s_net.2_www.default.file_u-1_1",
			"kubelet14.origin": "www.yaml", "kubelet14.network": "pods", "kubelet14.init": "",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("network container (-want +got):\n%s", diff)
	}
}

func TestCPUShares(t *testing.T) {
	for milli, want := range map[int64]int64{0: 0, 1: 2, 100: 102, 500: 512, 1000: 1024, 4000: 4096} {
		if got := dockertools.CPUShares(milli); got != want {
			t.Errorf("%d thousandths of a core: %d shares, want %d", milli, got, want)
		}
	}
}

// todaysPod has every field that no manifest of 2014 has.
func todaysPod() api.Pod {
	p := api.Pod{Name: "web", Namespace: "default", UID: "uid-web", Source: "file", Origin: "web.yaml"}
	p.Manifest = api.ContainerManifest{
		Version: api.VersionV1, Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "a b"},
		Hostname: "www", HostAliases: []api.HostAlias{{IP: "10.0.0.1", Hostnames: []string{"a", "b"}}},
		DNS: &api.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"local"}, Options: []string{"ndots:2"}},
		Containers: []api.Container{{
			Name: "main", Image: "hello:1", Entrypoint: []string{"/bin/$(NAME)"}, Command: []string{"$(LATER)", "$$(NAME)", "$(IMAGE)"},
			Env: []api.EnvVar{
				{Name: "NAME", FieldPath: api.FieldName}, {Name: "NAMESPACE", FieldPath: api.FieldNamespace}, {Name: "UID", FieldPath: api.FieldUID},
				{Name: "NODE", FieldPath: api.FieldNodeName}, {Name: "HOST", FieldPath: api.FieldHostIP}, {Name: "IP", FieldPath: api.FieldPodIP},
				{Name: "URL", Value: "http://$(IP)/$(LATER)"}, {Name: "LATER", Value: "$(URL)!"},
			},
			CPULimit: 1500, TerminationMessagePolicy: api.MessageFile,
			SecurityContext: &api.SecurityContext{
				RunAsUser: new(int64(1000)), RunAsGroup: new(int64(2000)),
				CapAdd: []string{"NET_ADMIN"}, CapDrop: []string{"ALL"}, ReadOnlyRootFilesystem: true, NoNewPrivileges: true, Unconfined: true, SeccompProfile: "a/b",
			},
			Stdin: true, TTY: true,
		}},
		ShareProcessNamespace: true, HostIPC: true, FSGroup: new(int64(7)), SupplementalGroups: []int64{8}, Subdomain: "pages",
	}
	return p
}

func TestTheSpecOfAPodOfToday(t *testing.T) {
	e := newExecutor(t)
	e.NetworkImage = "pause:1"
	pod := plan.NewPod(todaysPod(), "pause:1", time.Now())
	labels := func(more ...string) map[string]string {
		labels := e.Identity.Labels("k8s_.__uid-web_1")
		labels["kubelet14.origin"], labels["kubelet14.grace"] = "web.yaml", "30"
		labels["kubelet14.label/app"], labels["kubelet14.annotation/note"] = "web", "a b"
		for i := 0; i < len(more); i += 2 {
			labels[more[i]] = more[i+1]
		}
		return labels
	}
	check := func(c *plan.Container, want dockertools.ContainerSpec) {
		t.Helper()
		name := dockertools.NameParts{UID: pod.UID, Attempt: 1}
		want.Name = name.String()
		got, err := specOf(t, e, pod, plan.Action{Name: name, Container: c, NetworkID: "id", PodIP: "10.1.2.3", Grace: pod.Grace})
		got.Mounts = nil
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, -want +got\n%s", err, diff)
		}
	}
	check(&pod.Apps[0], dockertools.ContainerSpec{
		Image: "hello:1", Entrypoint: []string{"/bin/web"}, Command: []string{"http://10.1.2.3/$(LATER)!", "$(NAME)", "$(IMAGE)"},
		Env: []string{"NAME=web", "NAMESPACE=default", "UID=uid-web", "NODE=host", "HOST=" + dockertools.HostIP(), "IP=10.1.2.3",
			"URL=http://10.1.2.3/$(LATER)", "LATER=http://10.1.2.3/$(LATER)!"},
		User: "1000:2000", CapAdd: []string{"NET_ADMIN"}, CapDrop: []string{"ALL"}, ReadOnlyRootFS: true, CPUShares: 1536, CPULimit: 1500, NetworkContainer: "id",
		NoNewPrivileges: true, Unconfined: true, SeccompFile: e.Identity.RootDir + "/seccomp/a/b", Stdin: true, TTY: true, PIDMode: "container:id", IPCMode: "host", Groups: []string{"7", "8"},
		Labels: labels("kubelet14.network_container", "id", "kubelet14.message_policy", "File"),
	})
	network := dockertools.ContainerSpec{
		Image: "pause:1", Labels: labels("kubelet14.init", "", "kubelet14.network", "pods"), Hostname: "www", Network: "pods", Init: true,
		Aliases:    []string{"web.default", "www.pages.default", "www.pages.default.svc", "www.pages.default.svc.cluster.local"},
		ExtraHosts: []string{"a:10.0.0.1", "b:10.0.0.1"},
		DNS:        &api.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"default", "local"}, Options: []string{"ndots:2"}},
	}
	check(&pod.Network, network)
	network.DNS = pod.Complete.DNS
	network.Init = false
	network.Network, network.Hostname, network.Aliases, network.Labels = "host", "", nil, labels("kubelet14.init", "")
	pod.Complete.HostNetwork, pod.Ports = true, []api.Port{{HostPort: 80, ContainerPort: 80}}
	check(&pod.Network, network)
}
