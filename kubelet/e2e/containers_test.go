package e2e

import (
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"

	docker "github.com/fsouza/go-dockerclient"
)

// container is a container of this host as Docker tells it, without any help of
// the kubelet's own code.
type container struct {
	id, name   string
	pod        string // full name
	of         string // the container's name in its manifest
	attempt    string
	awaitsHook bool // its name says that its postStart has not succeeded yet
	state      string
	status     string
	netnsOf    string // id of the container whose network it joined
	labels     map[string]string
}

func (c container) String() string {
	return fmt.Sprintf("%s %s (%s) %s", c.name, c.state, c.status, c.id[:12])
}

func (c container) live() bool {
	return c.state == "running" || c.state == "paused" || c.state == "restarting"
}

// containers lists all containers of this host, dead ones too, by name.
func (h *host) containers() []container {
	h.t.Helper()
	list, err := h.docker.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {"kubelet14.hostname=" + h.hostname}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	var all []container
	for _, item := range list {
		c := container{id: item.ID, state: item.State, status: item.Status, labels: item.Labels}
		c.name = strings.TrimPrefix(item.Names[0], "/")
		plain, awaitsHook := strings.CutSuffix(c.name, "_poststart")
		c.awaitsHook = awaitsHook
		if parts := strings.Split(plain, "_"); len(parts) == 5 {
			c.of, _, _ = strings.Cut(parts[1], ".")
			c.pod, c.attempt = parts[2], parts[4]
		}
		c.netnsOf = item.Labels["kubelet14.network_container"]
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

// describe is what a failed test shows.
func (h *host) describe() string {
	var b strings.Builder
	for _, c := range h.containers() {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

// fullName is the full name of a pod. One that is given by its id alone is of the
// file source.
func fullName(pod string) string {
	if strings.Contains(pod, ".default.") {
		return pod
	}
	return pod + ".default.file"
}

// whole checks that a pod has exactly one live container of each of the given
// names, and its network container, which all others have joined after its start.
func (h *host) whole(id string, names ...string) error {
	byName := map[string][]container{}
	for _, c := range h.containers() {
		if c.pod == fullName(id) && c.live() {
			byName[c.of] = append(byName[c.of], c)
		}
	}
	if len(byName["net"]) != 1 {
		return fmt.Errorf("pod %s has %d live network containers", id, len(byName["net"]))
	}
	net, err := h.inspect(byName["net"][0].id)
	if err != nil {
		return err
	}
	for _, name := range names {
		if len(byName[name]) != 1 {
			return fmt.Errorf("pod %s has %d live containers %q", id, len(byName[name]), name)
		}
		app, err := h.inspect(byName[name][0].id)
		if err != nil {
			return err
		}
		if mode := app.HostConfig.NetworkMode; mode != "container:"+net.ID {
			return fmt.Errorf("container %q of pod %s has network %s, want that of %s", name, id, mode, net.ID)
		}
		if app.State.StartedAt.Before(net.State.StartedAt) {
			return fmt.Errorf("container %q of pod %s is older than the pod's network", name, id)
		}
	}
	if len(byName) != len(names)+1 {
		return fmt.Errorf("pod %s has live containers %v, want %v and its network container", id, byName, names)
	}
	return nil
}

// gone checks that nothing is left of a pod, dead containers included.
func (h *host) gone(id string) error {
	for _, c := range h.containers() {
		if c.pod == fullName(id) {
			return fmt.Errorf("%s is still there", c)
		}
	}
	return nil
}

// live returns the one live container of a pod by this name. Before it is called
// the pod must have been seen whole; while that is awaited, ask one.
func (h *host) live(id, name string) container {
	h.t.Helper()
	c, err := h.one(id, name)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.describe())
	}
	return c
}

// one returns the one live container of a pod by this name, or says that there
// are none or more.
func (h *host) one(id, name string) (container, error) {
	var found []container
	for _, c := range h.containers() {
		if c.pod == fullName(id) && c.of == name && c.live() {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return container{}, fmt.Errorf("pod %s has %d live containers %q, want 1", id, len(found), name)
	}
	return found[0], nil
}

// replaced checks that a pod has one live container by this name, and that it is
// not the old one.
func (h *host) replaced(id, name string, old container) error {
	c, err := h.one(id, name)
	if err == nil && c.id == old.id {
		err = fmt.Errorf("it is still %s", c)
	}
	return err
}

// ids are the ids of all live containers, by name.
func (h *host) ids() map[string]string {
	h.t.Helper()
	ids := map[string]string{}
	for _, c := range h.containers() {
		if c.live() {
			ids[c.name] = c.id
		}
	}
	return ids
}

func (h *host) inspect(id string) (*docker.Container, error) {
	return h.docker.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id})
}

// logs returns what a container has written.
func (h *host) logs(id string) string {
	h.t.Helper()
	var b buffer
	if err := h.docker.Logs(docker.LogsOptions{Container: id, OutputStream: &b, ErrorStream: &b, Stdout: true, Stderr: true}); err != nil {
		h.t.Fatal(err)
	}
	return b.String()
}

// logSays waits until a container has printed some words.
func (h *host) logSays(c container, words string) {
	h.t.Helper()
	h.eventually(fmt.Sprintf("the log of %s says %q", c.name, words), func() error {
		if log := h.logs(c.id); !strings.Contains(log, words) {
			return fmt.Errorf("it is %q", log)
		}
		return nil
	})
}

// stubborn returns the container "main" of a pod once SIGTERM no longer ends it: a
// process that has only just begun does not ignore it yet.
func (h *host) stubborn(pod string) container {
	h.t.Helper()
	c := h.live(pod, "main")
	h.logSays(c, "will go on when asked to stop")
	return c
}

// get fetches a page from a port of this machine.
func get(port int, path string) (string, error) {
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %s", resp.Status, body)
	}
	return string(body), err
}
