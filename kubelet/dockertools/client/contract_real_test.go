package client

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"
)

// What follows is the part of the contract that only a real process can show.

func TestIntegrationTheProgramSeesItsSpec(t *testing.T) {
	d, raw := newContractDocker(t)
	spec := d.spec(t, "c")
	spec.Entrypoint = []string{"/hello"}
	spec.Command = []string{"env"}
	spec.Env = []string{"PLAIN=1", "EMPTY=", "WITH_EQUALS=a=b", "WITH_SPACE=a b\"c"}
	spec.WorkingDir = "/tmp"
	spec.Hostname = "pod-name"
	id := d.create(t, spec)
	d.start(t, id)
	if details := d.ended(t, id); details.ExitCode != 0 {
		t.Errorf("it ended with %+v", details)
	}
	var out bytes.Buffer
	err := raw.Logs(docker.LogsOptions{Context: t.Context(), Container: id, OutputStream: &out, ErrorStream: &out, Stdout: true, Stderr: true})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for _, want := range append(slices.Clone(spec.Env), "hostname: pod-name", "directory: /tmp", `arguments: ["/hello" "env"]`) {
		if !slices.Contains(lines, want) {
			t.Errorf("the program does not see %q; it sees:\n%s", want, out.String())
		}
	}
}

func TestIntegrationARemovalTakesAnonymousVolumes(t *testing.T) {
	d, raw := newContractDocker(t)
	made, err := raw.CreateContainer(docker.CreateContainerOptions{
		Context: t.Context(),
		Name:    d.name(t, "c"),
		Config: &docker.Config{
			Image:   helloImage,
			Cmd:     []string{"/hello", "sleep"},
			Labels:  map[string]string{labelTest: d.run},
			Volumes: map[string]struct{}{"/data": {}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := raw.InspectContainerWithOptions(docker.InspectContainerOptions{Context: t.Context(), ID: made.ID})
	removeErr := d.RemoveContainer(t.Context(), made.ID)
	if err := errors.Join(err, removeErr); err != nil {
		t.Fatal(err)
	}
	if len(found.Mounts) != 1 || found.Mounts[0].Name == "" {
		t.Fatalf("the container had no anonymous volume: %+v", found.Mounts)
	}
	if volume, err := raw.InspectVolume(found.Mounts[0].Name); !errors.Is(err, docker.ErrNoSuchVolume) {
		t.Errorf("the volume is still there: %+v, %v", volume, err)
	}
}

func TestIntegrationLabelsReachDockerAsTheyAre(t *testing.T) {
	d, _ := newContractDocker(t)
	spec := d.spec(t, "c", "sleep")
	maps.Copy(spec.Labels, map[string]string{
		"path": "/a b/c", "text": "tab\tnewline\nquote\"back\\slash", "unicode": "ü", "json": `{"exec":{"command":["a","b"]}}`, "": "no name",
	})
	id := d.create(t, spec)
	if diff := cmp.Diff(spec.Labels, d.listed(t, id).Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
