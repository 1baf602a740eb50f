package kubelet

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
)

// specKubelet makes a kubelet that allows privileged containers, outside of a bubble.
func specKubelet(t *testing.T) *Kubelet {
	w := &world{t: t, docker: dockertest.NewFake(), rootDir: t.TempDir(), options: func(o *Options) { o.AllowPrivileged = true }}
	kl, closeRoot := w.newKubelet()
	t.Cleanup(closeRoot)
	return kl
}

func TestContainerSpec(t *testing.T) {
	kl := specKubelet(t)
	root := kl.opts.Volumes.Path()
	logs := dockertools.LogLimit{MaxSize: 1000, MaxFiles: 2}
	kl.logLimit = logs
	pod := plan.NewPod(plantest.FullPod(), dockertools.PauseImage, time.Now(), lifecycleLabel)
	name := dockertools.NameParts{Name: "web", Hash: "1", PodFullName: pod.FullName, UID: "u-1", Attempt: 2}
	got, err := kl.containerSpec(pod, plan.Action{Name: name, Container: &pod.Apps[0], Crashes: 3, Restarts: 4, Lifecycle: "{}", NetworkID: "net-id"})
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

	name = dockertools.NameParts{Name: "net", Hash: "2", PodFullName: pod.FullName, UID: "u-1", Attempt: 1}
	got, err = kl.containerSpec(pod, plan.Action{Name: name, Container: &pod.Network})
	if err != nil {
		t.Fatal(err)
	}
	want = dockertools.ContainerSpec{
		Name: "k8s_net.2_www.default.file_u-1_1", Image: dockertools.PauseImage, Entrypoint: []string{"/pause"},
		StopSignal: "SIGKILL", Hostname: "www", Log: logs, Network: "pods", Aliases: []string{"www", "www.default"},
		Ports: []dockertools.PublishedPort{
			{HostPort: 53, ContainerPort: 53, Protocol: "udp"},
			{HostIP: "127.0.0.1", HostPort: 8080, ContainerPort: 80, Protocol: "tcp"},
		},
		Labels: map[string]string{
			"kubelet14.hostname": "host", "kubelet14.root_dir": root, "kubelet14.name": "k8s_net.2_www.default.file_u-1_1",
			"kubelet14.origin": "www.yaml",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("network container (-want +got):\n%s", diff)
	}
	kl.opts.AllowPrivileged = false
	if _, err := kl.containerSpec(pod, plan.Action{Container: &pod.Apps[0]}); err == nil || !strings.Contains(err.Error(), "-allow_privileged") {
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
