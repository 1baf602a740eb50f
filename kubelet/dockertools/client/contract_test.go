package client

import (
	"archive/tar"
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// contract is what interface.go says, sentence by sentence. The Fake and the
// real Docker must both pass it, so that what is tested on the one is true of
// the other.
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
	{"a network container that does not run", testNetworkContainerNotRunning},
	{"a network", testNetwork},
	{"the network of the host", testHostNetwork},
	{"a network that many make at once", testNetworkMadeAtOnce},
	{"ports", testPorts},
	{"a taken port", testTakenPort},
	{"a done context", testDoneContext},
	{"events", testEvents},
	{"fifty callers", testManyCallers},
}

func testInfo(t *testing.T, d *contractDocker) {
	info, err := d.Info(t.Context())
	if err != nil || info.Version == "" || info.OS != "linux" || info.Arch != "amd64" && info.Arch != "arm64" || info.LogDriver == "" {
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
		ID: created, Name: spec.Name, Image: helloImage, Labels: spec.Labels,
		State: dockertools.StateCreated, Status: "Created", Created: line.Created,
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
	ports := []dockertools.PublishedPort{{HostPort: freePort(t), ContainerPort: 80, Protocol: "tcp"}}
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
	must(t, d.RemoveContainer(t.Context(), id))
	d.create(t, taken)
	d.create(t, d.spec(t, "c", "sleep")) // no refused creation left that name behind
	if _, err := d.InspectImage(t.Context(), noImage); !errors.Is(err, dockertools.ErrNoSuchImage) {
		t.Errorf("inspect of an image that is not there: %v", err)
	}
	if id, err := d.InspectImage(t.Context(), helloImage); err != nil || id == "" {
		t.Errorf("inspect of an image that is there: %q, %v", id, err)
	}
}

func testImportedImage(t *testing.T, d *contractDocker) {
	image := "kubelet14/" + d.name(t, "image") + ":1"
	layer, err := dockertools.Layer(nil, tar.Header{Name: "empty", Mode: 0o644})
	must(t, err, d.ImportImage(t.Context(), image, bytes.NewReader(layer)))
	t.Cleanup(func() { must(t, d.removeImage(image)) })
	if id, err := d.InspectImage(t.Context(), image); err != nil || id == "" {
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
