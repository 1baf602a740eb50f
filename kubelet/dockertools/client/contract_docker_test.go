package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/dockertools/registrytest"
)

const helloImage = dockertools.HelloImage

// labelTest marks the containers of these tests; its value is the run. Those of a run that was killed are removed by
// kubelet/e2e, as a host's.
const labelTest = dockertools.LabelHostname

// contractDocker is a Docker under test: the Interface, calls that a person makes beside it, and helpers that clean up
// after themselves.
type contractDocker struct {
	dockertools.Interface
	hands interface {
		Pause(id string) error
		Restart(id string) error
		Update(id, restartPolicy string) error
		Kill(id string, code int) error
		TagImage(image, another string) error
		BuildImage(name, base string) error // of a file that adds a label
		Write(id string, bytes int64) error // to the container's own file system
		Commands(id string) (int, error)    // how many run beside the container's first process
		AddNetwork(name string) error
		Connect(id, network string) error
		Disconnect(id, network string) error
	}
	registry    func(t *testing.T) contractRegistry // a new one, empty
	run         string                              // part of every name and label, so that runs and leftovers do not meet
	removeImage func(name string) error
	removeNet   func(name string) error // one that a user has made
}

func TestContractFake(t *testing.T) {
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := dockertest.NewFake()
				fake.AddImage(helloImage, fakeHello)
				c.test(t, &contractDocker{
					Interface: fake, hands: fake, run: "fake",
					registry: func(*testing.T) contractRegistry {
						return &fakeRegistry{fake: fake, remote: dockertest.RemoteImage{Program: fakeHello}}
					},
					removeImage: func(string) error { return nil },
					removeNet:   func(string) error { return nil },
				})
			})
		})
	}
}

func TestIntegrationContractDocker(t *testing.T) {
	d, _ := newContractDocker(t)
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, d)
		})
	}
}

// newContractDocker returns the real Docker, with a second client for what a person does.
func newContractDocker(t *testing.T) (*contractDocker, *docker.Client) {
	t.Helper()
	raw, err := docker.NewClientFromEnv()
	unittest.Must(t, err, registrytest.EnsureHello(raw))
	t.Cleanup(raw.HTTPClient.CloseIdleConnections)
	client, err := New("")
	unittest.Must(t, err)
	return &contractDocker{
		Interface: client, hands: rawHands{raw}, removeImage: raw.RemoveImage, removeNet: raw.RemoveNetwork,
		registry: func(t *testing.T) contractRegistry { return realRegistry{registrytest.New(t)} },
		run:      fmt.Sprintf("kubelet14-test-%d-%d", os.Getpid(), time.Now().UnixNano()),
	}, raw
}

// rawHands does to the real Docker what a person does to a Fake.
type rawHands struct{ raw *docker.Client }

func (h rawHands) Pause(id string) error   { return h.raw.PauseContainer(id) }
func (h rawHands) Restart(id string) error { return h.raw.RestartContainer(id, 10) }

func (h rawHands) Update(id, policy string) error {
	return h.raw.UpdateContainer(id, docker.UpdateContainerOptions{RestartPolicy: docker.RestartPolicy{Name: policy}})
}

func (h rawHands) Kill(id string, code int) error {
	if code != 137 {
		return fmt.Errorf("a killed process ends with 137, not %d", code)
	}
	return h.raw.KillContainer(docker.KillContainerOptions{ID: id, Signal: docker.SIGKILL})
}

func (h rawHands) TagImage(image, another string) error {
	repo, tag := docker.ParseRepositoryTag(another)
	return h.raw.TagImage(image, docker.TagImageOptions{Repo: repo, Tag: tag})
}

func (h rawHands) BuildImage(name, base string) error {
	var dir bytes.Buffer
	text := "FROM " + base + "\nLABEL built=yes\n"
	if err := dockertools.WriteLayer(&dir, fstest.MapFS{"Dockerfile": {Data: []byte(text), Mode: 0o644}}); err != nil {
		return err
	}
	return h.raw.BuildImage(docker.BuildImageOptions{Name: name, InputStream: &dir, OutputStream: io.Discard})
}

func (h rawHands) Write(id string, size int64) error {
	var files bytes.Buffer
	err := dockertools.WriteLayer(&files, fstest.MapFS{"file": {Data: make([]byte, size)}})
	return errors.Join(err, h.raw.UploadToContainer(id, docker.UploadToContainerOptions{Path: "/", InputStream: &files}))
}

func (h rawHands) AddNetwork(name string) error {
	_, err := h.raw.CreateNetwork(docker.CreateNetworkOptions{Name: name, Driver: "bridge"})
	return err
}

func (h rawHands) Connect(id, network string) error {
	return h.raw.ConnectNetwork(network, docker.NetworkConnectionOptions{Container: id})
}

func (h rawHands) Disconnect(id, network string) error {
	return h.raw.DisconnectNetwork(network, docker.NetworkConnectionOptions{Container: id})
}

func (h rawHands) Commands(id string) (int, error) {
	top, err := h.raw.TopContainer(id, "")
	return len(top.Processes) - 1, err
}

// spec is the spec that each container of a test begins with: its name is unique, and it is cleaned up.
func (d *contractDocker) spec(t *testing.T, name string, command ...string) dockertools.ContainerSpec {
	return dockertools.ContainerSpec{
		Name: d.name(t, name), Image: helloImage, Labels: map[string]string{labelTest: d.run},
		Command: append([]string{"/hello"}, command...),
	}
}

func (d *contractDocker) name(t *testing.T, name string) string {
	_, test, _ := strings.Cut(t.Name(), "/")
	return d.run + "-" + regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(test), "-") + "-" + name
}

// create creates a container that is removed with the test.
func (d *contractDocker) create(t *testing.T, spec dockertools.ContainerSpec) (id string) {
	t.Helper()
	id, err := d.CreateContainer(t.Context(), spec)
	unittest.Must(t, err)
	d.removeLater(t, id)
	return id
}

func (d *contractDocker) removeLater(t *testing.T, id string) {
	t.Cleanup(func() {
		if err := d.RemoveContainer(context.Background(), id); err != nil && !errors.Is(err, dockertools.ErrNoSuchContainer) {
			t.Error(err)
		}
	})
}

func (d *contractDocker) start(t *testing.T, id string) {
	t.Helper()
	unittest.Must(t, d.StartContainer(t.Context(), id))
}

// running creates and starts a container, and waits until its program handles signals: hello does so before it writes
// to a file.
func (d *contractDocker) running(t *testing.T, spec dockertools.ContainerSpec, flags ...string) (id string) {
	t.Helper()
	dir := t.TempDir()
	spec.Mounts = append(spec.Mounts, dockertools.Mount{HostPath: dir, ContainerPath: "/ready"})
	spec.Command = append(append([]string{"/hello", "append"}, flags...), "/ready/file", "ready")
	id = d.create(t, spec)
	d.start(t, id)
	file := filepath.Join(dir, "file")
	eventually(t, "the program is ready", func() (bool, string) {
		text, err := os.ReadFile(file)
		return bytes.Equal(text, []byte("ready\n")), fmt.Sprintf("%q, %v; container %+v", text, err, d.details(t, id))
	})
	return id
}

// ended waits for the end of a container.
func (d *contractDocker) ended(t *testing.T, id string) dockertools.Inspected {
	t.Helper()
	eventually(t, "the container has ended", func() (bool, string) {
		c := d.listed(t, id)
		return c.ListState == dockertools.StateExited, fmt.Sprintf("%+v", c)
	})
	return d.details(t, id)
}

func (d *contractDocker) details(t *testing.T, id string) dockertools.Inspected {
	t.Helper()
	details, err := d.InspectContainer(t.Context(), id)
	unittest.Must(t, err)
	return details
}

// list returns the ids of all containers of this run that have the labels.
func (d *contractDocker) list(t *testing.T, labels map[string]string) map[string]dockertools.Container {
	t.Helper()
	all := map[string]string{labelTest: d.run}
	maps.Copy(all, labels)
	list, err := d.ListContainers(t.Context(), all)
	unittest.Must(t, err)
	byID := map[string]dockertools.Container{}
	for _, c := range list {
		if _, twice := byID[c.ID]; twice {
			t.Errorf("container %q is listed twice", c.Name)
		}
		byID[c.ID] = c
	}
	return byID
}

// listed returns a container as the list has it, or the zero value.
func (d *contractDocker) listed(t *testing.T, id string) dockertools.Container {
	t.Helper()
	return d.list(t, nil)[id]
}

// eventually waits for a condition, and prints what was seen last if it never becomes true.
func eventually(t *testing.T, what string, cond func() (ok bool, seen string)) {
	t.Helper()
	unittest.Await(t, func() error {
		if ok, seen := cond(); !ok {
			return fmt.Errorf("%s; seen last: %s", what, seen)
		}
		return nil
	})
}

// fakeHello imitates the program of manifests/hello as far as the contract uses it.
func fakeHello(spec dockertools.ContainerSpec) dockertest.Program {
	argv := append(slices.Clone(spec.Entrypoint), spec.Command...)
	if argv[0] != "/hello" {
		return dockertest.Program{Missing: true}
	}
	p := dockertest.Program{IgnoreTerm: slices.Contains(argv, "-ignore-term")}
	if i := slices.Index(argv, "-exit-on-term"); i > 0 {
		p.TermCode, _ = strconv.Atoi(argv[i+1])
	}
	p.Log, p.ExitCode, p.Exits = runHello(spec.Mounts, argv)
	if argv[1] == "serve" {
		p.StopLog = stopLine
	}
	p.Exec = func(command []string) dockertest.ExecOutcome {
		if command[0] != "/hello" {
			return dockertest.ExecOutcome{ExitCode: 126, Output: fmt.Sprintf("exec: %q: no such file or directory\r\n", command[0])}
		}
		if command[1] == "repeat" {
			code, _ := strconv.Atoi(command[len(command)-1])
			return dockertest.ExecOutcome{Repeats: true, ExitCode: code}
		}
		output, code, ends := runHello(spec.Mounts, command)
		if command[1] == "cat" {
			return dockertest.ExecOutcome{Errors: output, ExitCode: code}
		}
		if !ends {
			return dockertest.ExecOutcome{Output: output, After: 24 * time.Hour}
		}
		return dockertest.ExecOutcome{Output: output, ExitCode: code}
	}
	return p
}

func runHello(mounts []dockertools.Mount, argv []string) (output string, code int, ends bool) {
	last := argv[len(argv)-1]
	switch argv[1] {
	case "exit":
		code, _ = strconv.Atoi(last)
		return "", code, true
	case "flood":
		return flood(last), 0, true
	case "cat":
		return fmt.Sprintf("hello cat: open %s: no such file or directory\n", last), 1, true
	case "serve":
		return servingLine, 0, false
	case "append":
		for _, m := range mounts {
			if file, ok := strings.CutPrefix(argv[len(argv)-2], m.ContainerPath+"/"); ok {
				_ = os.WriteFile(filepath.Join(m.HostPath, file), []byte(last+"\n"), 0o666)
			}
		}
	}
	return "", 0, false
}

// flood returns a number of lines.
func flood(count string) (lines string) {
	n, _ := strconv.Atoi(count)
	for i := range n {
		line := fmt.Sprint(i+1, " ")
		lines += line + strings.Repeat("x", 79-len(line)) + "\n"
	}
	return lines
}
