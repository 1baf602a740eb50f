package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// realDocker is a client of the Docker of this machine.
func realDocker(t *testing.T) *Client {
	t.Helper()
	c := mustClient(t, "")
	if _, err := c.Version(t.Context()); err != nil {
		t.Fatalf("this test needs a Docker daemon: %v", err)
	}
	return c
}

// createPause creates a container of the pause image that goes with the test.
func createPause(t *testing.T, c *Client, spec dockertools.ContainerSpec) (id string) {
	t.Helper()
	if err := dockertools.EnsurePauseImage(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	spec.Image = dockertools.PauseImage
	spec.Entrypoint = dockertools.PauseCommand()
	spec.StopSignal = "SIGKILL"
	return createContainer(t, c, spec)
}

// createContainer creates a container that goes with the test, under a name that
// only begins with the given one.
func createContainer(t *testing.T, c *Client, spec dockertools.ContainerSpec) (id string) {
	t.Helper()
	spec.Name = uniqueName(spec.Name)
	id, err := c.CreateContainer(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.RemoveContainer(context.Background(), id); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
			t.Error(err)
		}
	})
	return id
}

func uniqueName(name string) string {
	return fmt.Sprintf("kubelet14-test-%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
}

// raw asks Docker for all it knows of a container.
func raw(t *testing.T, c *Client, id string) *docker.Container {
	t.Helper()
	hands, err := docker.NewClientFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer hands.HTTPClient.CloseIdleConnections()
	found, err := hands.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id, Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestIntegrationDockerGetsAllOfTheSpec(t *testing.T) {
	c := realDocker(t)
	dir := t.TempDir()
	id := createPause(t, c, dockertools.ContainerSpec{
		Name:       "spec",
		Labels:     map[string]string{"kubelet14.test": "a=b,c"},
		Command:    []string{"with", "arguments"},
		Env:        []string{"A=1"},
		WorkingDir: "/work",
		Memory:     64 << 20,
		CPUShares:  512,
		Privileged: true,
		Mounts:     []dockertools.Mount{{HostPath: dir, ContainerPath: "/data", ReadOnly: true}},
		Log:        dockertools.LogLimit{MaxSize: 10 << 20, MaxFiles: 3},
		Hostname:   "web",
		Ports: []dockertools.PublishedPort{
			{HostPort: 38080, ContainerPort: 80, Protocol: "tcp"},
			{HostIP: "127.0.0.1", HostPort: 38081, ContainerPort: 80, Protocol: "tcp"},
			{HostPort: 38053, ContainerPort: 53, Protocol: "udp"},
		},
	})
	got := raw(t, c, id)
	for what, pair := range map[string][2]any{
		"labels":         {got.Config.Labels, map[string]string{"kubelet14.test": "a=b,c"}},
		"entrypoint":     {got.Config.Entrypoint, dockertools.PauseCommand()},
		"command":        {got.Config.Cmd, []string{"with", "arguments"}},
		"environment":    {slices.Contains(got.Config.Env, "A=1"), true},
		"directory":      {got.Config.WorkingDir, "/work"},
		"stop signal":    {got.Config.StopSignal, "SIGKILL"},
		"host name":      {got.Config.Hostname, "web"},
		"memory":         {got.HostConfig.Memory, int64(64 << 20)},
		"cpu shares":     {got.HostConfig.CPUShares, int64(512)},
		"privileged":     {got.HostConfig.Privileged, true},
		"restart policy": {got.HostConfig.RestartPolicy.Name, "no"},
		"log":            {got.HostConfig.LogConfig, docker.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10485760", "max-file": "3"}}},
		"mounts":         {got.HostConfig.Mounts, []docker.HostMount{{Type: "bind", Source: dir, Target: "/data", ReadOnly: true}}},
		"ports": {got.HostConfig.PortBindings, map[docker.Port][]docker.PortBinding{
			"80/tcp": {{HostPort: "38080"}, {HostIP: "127.0.0.1", HostPort: "38081"}},
			"53/udp": {{HostPort: "38053"}},
		}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
}

// await returns the first event that fits, and fails the test when none comes.
func await(t *testing.T, events <-chan dockertools.Event, want string, fits func(dockertools.Event) bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	var seen []dockertools.Event
	for {
		select {
		case e := <-events:
			if fits(e) {
				return
			}
			seen = append(seen, e)
		case <-deadline:
			t.Fatalf("no event for %s; seen: %v", want, seen)
		}
	}
}

func TestIntegrationEventsTellOfStartDeathAndRemoval(t *testing.T) {
	c := realDocker(t)
	id := createPause(t, c, dockertools.ContainerSpec{Name: "events"})
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan dockertools.Event, 1000)
	ended := make(chan error)
	go func() { ended <- c.WatchEvents(ctx, nil, func(e dockertools.Event) { events <- e }) }()
	ours := func(e dockertools.Event) bool { return e.ID == id && strings.Contains(e.Name, "kubelet14-test-events") }

	await(t, events, "the stream", func(e dockertools.Event) bool { return e == dockertools.Event{} })
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"the start", func() error { return c.StartContainer(ctx, id) }},
		{"the death", func() error { return c.StopContainer(ctx, id, 0) }},
		{"the removal", func() error { return c.RemoveContainer(ctx, id) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		await(t, events, step.name, ours)
	}

	cancel()
	if err := <-ended; err != nil {
		t.Errorf("stopped by its caller it says %v", err)
	}
}

func TestIntegrationPauseHoldsANetworkForOthers(t *testing.T) {
	c := realDocker(t)
	holder := createPause(t, c, dockertools.ContainerSpec{Name: "holder", Hostname: "web"})
	if err := c.StartContainer(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	guest := createPause(t, c, dockertools.ContainerSpec{Name: "guest", NetworkContainer: holder})
	if err := c.StartContainer(t.Context(), guest); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{holder, guest} {
		if state := raw(t, c, id).State; !state.Running {
			t.Errorf("container %s does not run: %+v", id, state)
		}
	}

	// Step: the guest has no network of its own, and shares the holder's host name.
	own, err := c.InspectContainer(t.Context(), holder)
	if err != nil || own.IP == "" {
		t.Errorf("the holder's network: %+v, %v", own, err)
	}
	joined, err := c.InspectContainer(t.Context(), guest)
	if err != nil || joined.IP != "" {
		t.Errorf("the guest's network: %+v, %v", joined, err)
	}
	if mode := raw(t, c, guest).HostConfig.NetworkMode; mode != "container:"+holder {
		t.Errorf("the guest's network mode is %q", mode)
	}

	// Step: SIGKILL is the stop signal, so a long grace is not waited for.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.StopContainer(ctx, holder, time.Hour); err != nil {
		t.Fatal(err)
	}
	if ended, err := c.InspectContainer(ctx, holder); err != nil || ended.ExitCode != 137 {
		t.Errorf("stopped, the holder says %+v, %v", ended, err)
	}
}
