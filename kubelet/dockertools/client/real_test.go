package client

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kubelet14/kubelet/dockertools"
)

// These tests prove what only a real Docker, a real process or a real registry can.

func inspectRaw(t *testing.T, raw *docker.Client, id string) *docker.Container {
	t.Helper()
	found, err := raw.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id, Context: t.Context()})
	must(t, err)
	return found
}

func TestIntegrationDockerGetsAllOfTheSpec(t *testing.T) {
	d, raw := newContractDocker(t)
	dir, tcp, local, udp := t.TempDir(), freePort(t), freePort(t), freePort(t)
	spec := d.spec(t, "c")
	spec.Entrypoint, spec.Command = []string{"/hello"}, []string{"env"}
	spec.Env = []string{"PLAIN=1", "EMPTY=", "WITH_EQUALS=a=b", "WITH_SPACE=a b\"c"}
	spec.WorkingDir, spec.StopSignal, spec.Hostname = "/tmp", "SIGKILL", "pod-name"
	spec.Memory, spec.CPUShares = 64<<20, 512
	spec.Mounts = []dockertools.Mount{{HostPath: dir, ContainerPath: "/data", ReadOnly: true}}
	spec.Log = dockertools.LogLimit{MaxSize: 10 << 20, MaxFiles: 3}
	spec.Ports = []dockertools.PublishedPort{
		{HostPort: tcp, ContainerPort: 80, Protocol: "tcp"},
		{HostIP: "127.0.0.1", HostPort: local, ContainerPort: 80, Protocol: "tcp"},
		{HostPort: udp, ContainerPort: 53, Protocol: "udp"},
	}
	maps.Copy(spec.Labels, map[string]string{
		"path": "/a b/c", "text": "tab\tnewline\nquote\"back\\slash", "unicode": "ü", "json": `{"command":["a","b"]}`, "": "no name",
	})
	id := d.create(t, spec)
	got := inspectRaw(t, raw, id)
	for what, pair := range map[string][2]any{
		"labels":         {got.Config.Labels, spec.Labels},
		"program":        {append(got.Config.Entrypoint, got.Config.Cmd...), []string{"/hello", "env"}},
		"environment":    {got.Config.Env[:len(spec.Env)], spec.Env}, // Docker adds a PATH
		"directory":      {got.Config.WorkingDir, "/tmp"},
		"host name":      {got.Config.Hostname, "pod-name"},
		"stop signal":    {got.Config.StopSignal, "SIGKILL"},
		"memory":         {got.HostConfig.Memory, spec.Memory},
		"cpu shares":     {got.HostConfig.CPUShares, spec.CPUShares},
		"privileged":     {got.HostConfig.Privileged, false},
		"restart policy": {got.HostConfig.RestartPolicy.Name, "no"},
		"log":            {got.HostConfig.LogConfig, docker.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10485760", "max-file": "3"}}},
		"mounts":         {got.HostConfig.Mounts, []docker.HostMount{{Type: "bind", Source: dir, Target: "/data", ReadOnly: true}}},
		"ports": {got.HostConfig.PortBindings, map[docker.Port][]docker.PortBinding{
			"80/tcp": {{HostPort: fmt.Sprint(tcp)}, {HostIP: "127.0.0.1", HostPort: fmt.Sprint(local)}},
			"53/udp": {{HostPort: fmt.Sprint(udp)}},
		}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	privileged := d.spec(t, "privileged") // which may not be started everywhere
	privileged.Privileged = true
	if found := inspectRaw(t, raw, d.create(t, privileged)); !found.HostConfig.Privileged {
		t.Error("a privileged container is not privileged")
	}
}

func TestIntegrationARemovalTakesAnonymousVolumes(t *testing.T) {
	d, raw := newContractDocker(t)
	made, err := raw.CreateContainer(docker.CreateContainerOptions{Context: t.Context(), Name: d.name(t, "c"), Config: &docker.Config{
		Image: helloImage, Cmd: []string{"/hello", "sleep"}, Labels: map[string]string{labelTest: d.run}, Volumes: map[string]struct{}{"/data": {}},
	}})
	must(t, err)
	mounts := inspectRaw(t, raw, made.ID).Mounts
	if err := d.RemoveContainer(t.Context(), made.ID); err != nil || len(mounts) != 1 || mounts[0].Name == "" {
		t.Fatalf("%v; the container had the mounts %+v, want an anonymous volume", err, mounts)
	}
	if volume, err := raw.InspectVolume(mounts[0].Name); !errors.Is(err, docker.ErrNoSuchVolume) {
		t.Errorf("the volume still exists: %+v, %v", volume, err)
	}
}

func TestMain(m *testing.M) {
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	goleak.VerifyTestMain(m,
		// glog writes its files from this goroutine for as long as the program runs.
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}
