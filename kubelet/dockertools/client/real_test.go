package client

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
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
		"listed labels":  {d.listed(t, id).Labels, spec.Labels},
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
	// The program sees its part of it.
	d.start(t, id)
	if details := d.ended(t, id); details.ExitCode != 0 {
		t.Errorf("it ended with %+v", details)
	}
	lines := strings.Split(d.log(t, id, wholeLog), "\n")
	for _, want := range append(slices.Clone(spec.Env), "hostname: pod-name", "directory: /tmp", `arguments: ["/hello" "env"]`) {
		if !slices.Contains(lines, want) {
			t.Errorf("the program does not see %q; it sees %q", want, lines)
		}
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

func TestIntegrationPauseHoldsANetworkForOthers(t *testing.T) {
	d, raw := newContractDocker(t)
	must(t, dockertools.EnsurePauseImage(t.Context(), d))
	pause := func(name, network string) (id string) {
		spec := d.spec(t, name)
		spec.Image, spec.Entrypoint, spec.Command = dockertools.PauseImage, dockertools.PauseCommand(), nil
		spec.StopSignal, spec.NetworkContainer = "SIGKILL", network
		id = d.create(t, spec)
		d.start(t, id)
		d.checkState(t, id, dockertools.StateRunning, 0)
		return id
	}
	holder := pause("holder", "")
	guest := pause("guest", holder)
	if own, joined := d.details(t, holder), d.details(t, guest); own.IP == "" || joined.IP != "" {
		t.Errorf("the holder has %+v, the guest %+v", own, joined)
	}
	if mode := inspectRaw(t, raw, guest).HostConfig.NetworkMode; mode != "container:"+holder {
		t.Errorf("the guest's network mode is %q", mode)
	}
	// SIGKILL is the stop signal, so the grace is not used.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	must(t, d.StopContainer(ctx, holder, time.Hour))
	d.checkState(t, holder, dockertools.StateExited, 137)
}

func TestIntegrationPullReportsItsProgress(t *testing.T) {
	const big = 8 << 20
	d, _ := newContractDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1", big, big)
	r.HoldBlobs()
	var last dockertools.PullProgress
	err := d.PullImage(t.Context(), image.Ref, dockertools.Auth{}, func(p dockertools.PullProgress) {
		if p.TotalBytes > 2*big && last.TotalBytes <= 2*big { // the registry holds both big layers in the middle
			if p.Bytes <= 0 || p.Bytes > p.TotalBytes*3/4 || p.LayersDone != 0 || p.Layers != 3 {
				t.Errorf("in the middle of 3 layers: %+v", p)
			}
			r.MendBlobs()
		}
		last = p
	})
	if _, sent := r.Blobs(); err != nil || last.LayersDone != last.Layers || last.Bytes != last.TotalBytes || last.Bytes > sent {
		t.Errorf("at the end, with %d bytes sent: %+v, %v", sent, last, err)
	}
}

func TestMain(m *testing.M) {
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	goleak.VerifyTestMain(m,
		// glog writes its files from this goroutine for as long as the program runs.
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}
