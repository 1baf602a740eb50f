package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// contract tests interface.go sentence by sentence. The Fake and the real Docker must both pass it, so that tests with
// the Fake are valid for Docker.
var contract = []struct {
	name string
	test func(t *testing.T, d *contractDocker)
}{
	{"information", testInfo},
	{"list by labels", testListByLabels},
	{"an unknown container", testUnknownContainer},
	{"a creation that is refused", testRefusedCreation},
	{"an imported image", testImportedImage},
	{"a life", testLife},
	{"a missing command", testMissingCommand},
	{"an end by itself, and a failed start after it", testEndByItself},
	{"a stop", testStop},
	{"a container in every state", testEveryState},
	{"a command in a container", testExec},
	{"a command with an input", testExecWith},
	{"a command whose container ends", testExecEnds},
	{"a command whose output nobody reads", testExecIsKilled},
	{"a measurement", testStats},
	{"a log", testLogs},
	{"a log that is followed", testLogFollow},
	{"the end of following", testLogFollowEnds},
	{"a pull", testPull},
	{"a pull by every kind of name", testPullNames},
	{"a pull that is refused", testPullRefused},
	{"a pull whose caller stops", testPullCallerStops},
	{"images, their list and their removal", testImages},
	{"what a container has written", testContainerSizes},
	{"a network container that does not run", testNetworkContainerNotRunning},
	{"a network", testNetwork},
	{"the network of the host", testHostNetwork},
	{"a network that many make at once", testNetworkMadeAtOnce},
	{"ports", testPorts},
	{"a taken port", testTakenPort},
	{"a done context", testDoneContext},
	{"a start whose caller stops", testStartCallerStops},
	{"events", testEvents},
	{"pulls by anybody", testWatchPulls},
	{"fifty callers", testManyCallers},
}

func testInfo(t *testing.T, d *contractDocker) {
	info, err := d.Info(t.Context())
	if err != nil || info.Version == "" || info.OS != "linux" || info.Arch != "amd64" && info.Arch != "arm64" || info.LogDriver == "" ||
		info.Name == "" || info.Kernel == "" || info.OSImage == "" {
		t.Errorf("%+v, %v", info, err)
	}
}

func testListByLabels(t *testing.T, d *contractDocker) {
	mark := d.name(t, "label")
	spec := d.spec(t, "created", "sleep")
	spec.Labels[mark], spec.Labels["with value"], spec.Labels["without"] = "yes", "a=b, \"c\"", ""
	before := time.Now().Truncate(time.Second)
	created := d.create(t, spec)
	line := d.listed(t, created)
	want := dockertools.Container{
		ID: created, Name: spec.Name, Image: helloImage, ImageID: d.details(t, created).ImageID, Labels: spec.Labels,
		ListState: dockertools.StateCreated, Status: "Created", Created: line.Created,
	}
	if diff := cmp.Diff(want, line); diff != "" || line.Created.Before(before) || line.Created.After(time.Now()) {
		t.Errorf("created after %v: -want +got\n%s", before, diff)
	}
	spec = d.spec(t, "dead", "exit", "0")
	spec.Labels[mark] = "no"
	dead := d.create(t, spec)
	d.start(t, dead)
	d.ended(t, dead)

	for _, c := range []struct {
		labels map[string]string
		want   []string
	}{
		{map[string]string{mark: ""}, []string{created, dead}},
		{map[string]string{mark: "yes"}, []string{created}},
		{map[string]string{mark: "y"}, nil},
		{map[string]string{mark: "", "with value": "a=b, \"c\""}, []string{created}},
		{map[string]string{mark: "", "without": ""}, []string{created}},
		{map[string]string{mark: "no", "with value": ""}, nil},
		{map[string]string{mark + "x": ""}, nil},
	} {
		got := slices.Sorted(maps.Keys(d.list(t, c.labels)))
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("list of %v (-want +got):\n%s", c.labels, diff)
		}
	}
}

func testRefusedCreation(t *testing.T, d *contractDocker) {
	taken := d.spec(t, "taken", "sleep")
	id := d.create(t, taken)
	missing := filepath.Join(t.TempDir(), "missing")
	noImage := "kubelet14/" + d.run + ":none"
	mounts := []dockertools.Mount{{HostPath: missing, ContainerPath: "/data"}}
	ports := []api.Port{{HostPort: freePort(t), ContainerPort: 80, Protocol: api.ProtocolTCP}}
	for _, c := range []struct {
		change func(*dockertools.ContainerSpec)
		kind   error // nil: any
		says   string
	}{
		{func(s *dockertools.ContainerSpec) { s.Name = taken.Name }, dockertools.ErrNameTaken, taken.Name},
		{func(s *dockertools.ContainerSpec) { s.Image = noImage }, dockertools.ErrNoSuchImage, noImage},
		{func(s *dockertools.ContainerSpec) { s.Mounts = mounts }, nil, missing},
		{func(s *dockertools.ContainerSpec) { s.NetworkContainer, s.Hostname = id, "mine" }, nil, "hostname"},
		{func(s *dockertools.ContainerSpec) { s.NetworkContainer, s.Ports = id, ports }, nil, "port publishing"},
	} {
		spec := d.spec(t, "c", "sleep")
		c.change(&spec)
		_, err := d.CreateContainer(t.Context(), spec)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v; want %v with %q", err, c.kind, c.says)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("Docker has made the missing directory")
	}
	unittest.Must(t, d.RemoveContainer(t.Context(), id))
	d.create(t, taken)
	d.create(t, d.spec(t, "c", "sleep")) // no refused creation left that name behind
	if _, _, err := d.InspectImage(t.Context(), noImage); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("inspect of an image that is not there: %v", err)
	}
	if id, _, err := d.InspectImage(t.Context(), helloImage); err != nil || id == "" {
		t.Errorf("inspect of an image that is there: %q, %v", id, err)
	}
}

func testImportedImage(t *testing.T, d *contractDocker) {
	image := "kubelet14/" + d.name(t, "image") + ":1"
	var layer bytes.Buffer
	unittest.Must(t, dockertools.WriteLayer(&layer, fstest.MapFS{"empty": {Mode: 0o644}}))
	unittest.Must(t, d.ImportImage(t.Context(), image, &layer))
	t.Cleanup(func() { unittest.Must(t, d.removeImage(image)) })
	if id, _, err := d.InspectImage(t.Context(), image); err != nil || id == "" {
		t.Errorf("inspect: %q, %v", id, err)
	}
	spec := d.spec(t, "c")
	spec.Image, spec.Command = image, nil
	if _, err := d.CreateContainer(t.Context(), spec); err == nil {
		t.Error("a container with no command at all was created")
	}
	spec.Entrypoint = []string{"/empty"}
	id := d.create(t, spec)
	if got := d.listed(t, id).Image; got != image {
		t.Errorf("listed with image %q, want %q", got, image)
	}
}

// From here on the tests need a real Docker.

func inspectRaw(t *testing.T, raw *docker.Client, id string) *docker.Container {
	t.Helper()
	found, err := raw.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id, Context: t.Context()})
	unittest.Must(t, err)
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
	spec.Ports = []api.Port{
		{HostPort: tcp, ContainerPort: 80, Protocol: api.ProtocolTCP},
		{HostIP: "127.0.0.1", HostPort: local, ContainerPort: 80, Protocol: api.ProtocolTCP},
		{HostPort: udp, ContainerPort: 53, Protocol: api.ProtocolUDP},
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
	privileged.Privileged, privileged.PIDMode, privileged.IPCMode = true, "host", "host"
	privileged.NoNewPrivileges, privileged.Unconfined, privileged.Groups = true, true, []string{"7", "8"}
	privileged.Stdin, privileged.TTY, privileged.Init = true, true, true
	found := inspectRaw(t, raw, d.create(t, privileged))
	host := found.HostConfig
	if !host.Privileged || host.PidMode != "host" || host.IpcMode != "host" || !host.Init || !found.Config.OpenStdin || !found.Config.Tty ||
		fmt.Sprint(host.SecurityOpt[:2], host.GroupAdd) != "[no-new-privileges seccomp=unconfined] [7 8]" { // Docker adds label=disable
		t.Errorf("a container that shares the host's processes: %+v", host)
	}
}

// A profile is what the container may do: one that allows nothing lets no program start.
func TestIntegrationSeccompProfiles(t *testing.T) {
	d, raw := newContractDocker(t)
	for action, runs := range map[string]bool{"SCMP_ACT_ALLOW": true, "SCMP_ACT_ERRNO": false} {
		spec := d.spec(t, action, "env")
		spec.SeccompFile = filepath.Join(t.TempDir(), "profile.json")
		_, err := d.CreateContainer(t.Context(), spec)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "read the seccomp profile: open "+spec.SeccompFile) {
			t.Errorf("without the file: %v", err)
		}
		unittest.Must(t, os.WriteFile(spec.SeccompFile, []byte(`{"defaultAction": "`+action+`"}`), 0o600))
		id := d.create(t, spec)
		code, err := -1, d.StartContainer(t.Context(), id)
		if err == nil {
			code, err = raw.WaitContainerWithContext(id, t.Context())
		}
		if ran := err == nil && code == 0; ran != runs {
			t.Errorf("%s: %v, exit code %d", action, err, code)
		}
	}
}

func TestIntegrationARemovalTakesAnonymousVolumes(t *testing.T) {
	d, raw := newContractDocker(t)
	made, err := raw.CreateContainer(docker.CreateContainerOptions{Context: t.Context(), Name: d.name(t, "c"), Config: &docker.Config{
		Image: helloImage, Cmd: []string{"/hello", "sleep"}, Labels: map[string]string{labelTest: d.run}, Volumes: map[string]struct{}{"/data": {}},
	}})
	unittest.Must(t, err)
	mounts := inspectRaw(t, raw, made.ID).Mounts
	if err := d.RemoveContainer(t.Context(), made.ID); err != nil || len(mounts) != 1 || mounts[0].Name == "" {
		t.Fatalf("%v; the container had the mounts %+v, want an anonymous volume", err, mounts)
	}
	if volume, err := raw.InspectVolume(mounts[0].Name); !errors.Is(err, docker.ErrNoSuchVolume) {
		t.Errorf("the volume still exists: %+v, %v", volume, err)
	}
}

func TestMain(m *testing.M) { unittest.Main(m) }
