package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	docker "github.com/fsouza/go-dockerclient"
)

// container is a container of a host as Docker lists it, read without the kubelet's
// code.
type container struct {
	id, name string
	pod      string // full name
	of       string // the container's name in its manifest
	attempt  int
	state    string
	labels   map[string]string
}

func (c container) String() string { return fmt.Sprintf("%s %s %s", c.name, c.state, c.id[:12]) }

func (c container) live() bool {
	return c.state == "running" || c.state == "paused" || c.state == "restarting"
}

// listing is what one list of a host's containers shows.
type listing []container

// containers lists all containers of this host, dead ones too, by name and attempt.
func (h *host) containers() listing {
	h.t.Helper()
	list, err := h.docker.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {"kubelet14.hostname=" + h.hostname}},
	})
	h.must(err)
	var all listing
	for _, item := range list {
		c := container{id: item.ID, name: strings.TrimPrefix(item.Names[0], "/"), state: item.State, labels: item.Labels}
		if parts := strings.Split(strings.TrimSuffix(c.name, "_poststart"), "_"); len(parts) == 5 {
			c.of, _, _ = strings.Cut(parts[1], ".")
			c.pod = parts[2]
			c.attempt, _ = strconv.Atoi(parts[4])
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b container) int {
		return cmp.Or(strings.Compare(a.pod, b.pod), strings.Compare(a.of, b.of), a.attempt-b.attempt)
	})
	return all
}

func (h *host) describe() string {
	var b strings.Builder
	for _, c := range h.containers() {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

// fullName returns the full name of a pod; one that is given by its id is of the file
// source.
func fullName(pod string) string {
	if strings.Contains(pod, ".default.") {
		return pod
	}
	return pod + ".default.file"
}

// of returns the containers of a pod by a name, oldest first; the empty name stands
// for all.
func (h *host) of(id, name string) listing {
	h.t.Helper()
	return h.containers().of(id, name)
}

func (all listing) of(id, name string) (found listing) {
	for _, c := range all {
		if c.pod == fullName(id) && (name == "" || c.of == name) {
			found = append(found, c)
		}
	}
	return found
}

// whole checks that a pod has exactly one live container of each name, and one network
// container, which all others have joined after its start.
func (h *host) whole(id string, names ...string) error {
	return h.wholeIn(h.containers(), id, names...)
}

// allWhole checks several pods, given by their containers, with one list of Docker.
func (h *host) allWhole(pods map[string][]string) error {
	all := h.containers()
	for id, names := range pods {
		if err := h.wholeIn(all, id, names...); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) wholeIn(all listing, id string, names ...string) error {
	net, err := all.one(id, "net")
	if err != nil {
		return err
	}
	network, err := h.inspect(net.id)
	if err != nil {
		return err
	}
	for _, name := range names {
		c, err := all.one(id, name)
		if err != nil {
			return err
		}
		app, err := h.inspect(c.id)
		if err != nil {
			return err
		}
		if mode := app.HostConfig.NetworkMode; mode != "container:"+net.id {
			return fmt.Errorf("container %q of pod %s has network %s, want that of %s", name, id, mode, net.id)
		}
		if app.State.StartedAt.Before(network.State.StartedAt) {
			return fmt.Errorf("container %q of pod %s is older than the network of the pod", name, id)
		}
	}
	for _, c := range all.of(id, "") {
		if c.live() && c.of != "net" && !slices.Contains(names, c.of) {
			return fmt.Errorf("pod %s has the live container %s, want %v", id, c, names)
		}
	}
	return nil
}

// up checks that pods are whole, whose one container is "main".
func (h *host) up(ids ...string) error {
	all := h.containers()
	for _, id := range ids {
		if err := h.wholeIn(all, id, "main"); err != nil {
			return err
		}
	}
	return nil
}

func (h *host) awaitUp(ids ...string) {
	h.t.Helper()
	h.await(fmt.Sprint("the pods ", ids, " are up"), func() error { return h.up(ids...) })
}

// gone checks that nothing is left of pods, not even a dead container.
func (h *host) gone(ids ...string) error {
	all := h.containers()
	for _, id := range ids {
		if left := all.of(id, ""); len(left) > 0 {
			return fmt.Errorf("%s is still there", left[0])
		}
	}
	return nil
}

func (h *host) awaitGone(ids ...string) {
	h.t.Helper()
	h.await(fmt.Sprint("the pods ", ids, " are gone"), func() error { return h.gone(ids...) })
}

// ended checks that pods have run and that none of their containers lives, not even
// the network container.
func (h *host) ended(ids ...string) error {
	for _, id := range ids {
		all := h.of(id, "")
		if len(all) == 0 {
			return fmt.Errorf("pod %s has not run", id)
		}
		for _, c := range all {
			if c.live() || c.of == "net" {
				return fmt.Errorf("%s is still there", c)
			}
		}
	}
	return nil
}

// one returns the only live container of a pod by a name.
func (h *host) one(id, name string) (container, error) { return h.containers().one(id, name) }

func (all listing) one(id, name string) (container, error) {
	live := slices.DeleteFunc(all.of(id, name), func(c container) bool { return !c.live() })
	if len(live) != 1 {
		return container{}, fmt.Errorf("pod %s has %d live containers %q, want 1", id, len(live), name)
	}
	return live[0], nil
}

func (h *host) live(id, name string) container {
	h.t.Helper()
	c, err := h.one(id, name)
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.describe())
	}
	return c
}

// newest returns the newest attempt of a container, dead or alive.
func (h *host) newest(id, name string) container {
	h.t.Helper()
	all := h.of(id, name)
	if len(all) == 0 {
		h.t.Fatalf("pod %s has no container %q\n%s", id, name, h.describe())
	}
	return all[len(all)-1]
}

// exited checks that a container is there and has ended.
func (h *host) exited(c container) error {
	detail, err := h.inspect(c.id)
	if err == nil && detail.State.Status != "exited" {
		err = fmt.Errorf("%s is %s", c, detail.State.Status)
	}
	return err
}

func (h *host) inspect(id string) (*docker.Container, error) {
	return h.docker.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id})
}

func (h *host) mustInspect(id string) *docker.Container {
	h.t.Helper()
	c, err := h.inspect(id)
	h.must(err)
	return c
}

// replaced checks that a pod has one live container by a name, other than the old one.
func (h *host) replaced(old container) error {
	c, err := h.one(old.pod, old.of)
	if err == nil && c.id == old.id {
		err = fmt.Errorf("it is still %s", c)
	}
	return err
}

func (h *host) awaitReplaced(old container) container {
	h.t.Helper()
	h.await(fmt.Sprint("another container replaces ", old), func() error { return h.replaced(old) })
	return h.live(old.pod, old.of)
}

// kill kills the live container of a pod by a name, and returns it.
func (h *host) kill(id, name string) container {
	h.t.Helper()
	c := h.live(id, name)
	h.must(h.docker.KillContainer(docker.KillContainerOptions{ID: c.id}))
	return c
}

// mend kills the container "main" of pods and waits until the pods are up again. So it
// shows that the kubelet is at work: what it was not to do by then, it has not done.
func (h *host) mend(ids ...string) {
	h.t.Helper()
	var killed []container
	for _, id := range ids {
		killed = append(killed, h.kill(id, "main"))
	}
	for _, old := range killed {
		h.await("the kubelet repairs pod "+old.pod, func() error { return errors.Join(h.up(old.pod), h.replaced(old)) })
	}
}

// ids returns the ids of all live containers, by name.
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

// mustBe checks that exactly the given containers live. Those of the pods in except
// may have changed.
func (h *host) mustBe(when string, want map[string]string, except ...string) {
	h.t.Helper()
	now := h.ids()
	for _, all := range []map[string]string{now, want} {
		for name := range all {
			pod := strings.Split(name, "_")[2]
			excepted := slices.ContainsFunc(except, func(id string) bool { return fullName(id) == pod })
			if !excepted && now[name] != want[name] {
				h.t.Errorf("%s: container %s is %.12q, want %.12q", when, name, now[name], want[name])
			}
		}
	}
}
