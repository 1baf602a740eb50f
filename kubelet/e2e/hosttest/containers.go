package hosttest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	docker "github.com/fsouza/go-dockerclient"
)

// Container is a container of a host as Docker lists it, read without the kubelet's
// code.
type Container struct {
	ID, Name string
	Pod      string // full name
	Of       string // the container's name in its manifest
	attempt  int
	State    string
	Labels   map[string]string
}

func (c Container) String() string { return fmt.Sprintf("%s %s %s", c.Name, c.State, c.ID[:12]) }

func (c Container) Live() bool {
	return c.State == "running" || c.State == "paused" || c.State == "restarting"
}

// listing is what one list of a host's containers shows.
type listing []Container

// Containers lists all containers of this host, dead ones too, by name and attempt.
func (h *Host) Containers() listing {
	h.T.Helper()
	list, err := h.Docker.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {"kubelet14.hostname=" + h.Hostname}},
	})
	h.Must(err)
	var all listing
	for _, item := range list {
		c := Container{ID: item.ID, Name: strings.TrimPrefix(item.Names[0], "/"), State: item.State, Labels: item.Labels}
		if parts := strings.Split(c.Name, "_"); len(parts) == 5 {
			c.Of, _, _ = strings.Cut(parts[1], ".")
			c.Pod = parts[2]
			c.attempt, _ = strconv.Atoi(parts[4])
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Container) int {
		return cmp.Or(strings.Compare(a.Pod, b.Pod), strings.Compare(a.Of, b.Of), a.attempt-b.attempt)
	})
	return all
}

func (h *Host) Describe() string {
	var b strings.Builder
	for _, c := range h.Containers() {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

// FullName returns the full name of a pod; one that is given by its id is of the file
// source.
func FullName(pod string) string {
	if strings.Contains(pod, ".default.") {
		return pod
	}
	return pod + ".default.file"
}

// of returns the containers of a pod by a name, oldest first; the empty name stands
// for all.
func (h *Host) Of(id, name string) listing {
	h.T.Helper()
	return h.Containers().of(id, name)
}

func (all listing) of(id, name string) (found listing) {
	for _, c := range all {
		if c.Pod == FullName(id) && (name == "" || c.Of == name) {
			found = append(found, c)
		}
	}
	return found
}

// Whole checks that a pod has exactly one live container of each name, and one network
// container, which all others have joined after its start.
func (h *Host) Whole(id string, names ...string) error {
	return h.wholeIn(h.Containers(), id, names...)
}

// AllWhole checks several pods, given by their containers, with one list of Docker.
func (h *Host) AllWhole(pods map[string][]string) error {
	all := h.Containers()
	for id, names := range pods {
		if err := h.wholeIn(all, id, names...); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) wholeIn(all listing, id string, names ...string) error {
	net, err := all.One(id, "net")
	if err != nil {
		return err
	}
	network, err := h.Inspect(net.ID)
	if err != nil {
		return err
	}
	for _, name := range names {
		c, err := all.One(id, name)
		if err != nil {
			return err
		}
		app, err := h.Inspect(c.ID)
		if err != nil {
			return err
		}
		if mode := app.HostConfig.NetworkMode; mode != "container:"+net.ID {
			return fmt.Errorf("container %q of pod %s has network %s, want that of %s", name, id, mode, net.ID)
		}
		if app.State.StartedAt.Before(network.State.StartedAt) {
			return fmt.Errorf("container %q of pod %s is older than the network of the pod", name, id)
		}
	}
	for _, c := range all.of(id, "") {
		if c.Live() && c.Of != "net" && !slices.Contains(names, c.Of) {
			return fmt.Errorf("pod %s has the live container %s, want %v", id, c, names)
		}
	}
	return nil
}

// Up checks that pods are whole, whose one container is "main".
func (h *Host) Up(ids ...string) error {
	pods := map[string][]string{}
	for _, id := range ids {
		pods[id] = []string{"main"}
	}
	return h.AllWhole(pods)
}

func (h *Host) AwaitUp(ids ...string) {
	h.T.Helper()
	h.Await(fmt.Sprint("the pods ", ids, " are up"), func() error { return h.Up(ids...) })
}

// Gone checks that nothing is left of pods, not even a dead container.
func (h *Host) Gone(ids ...string) error {
	all := h.Containers()
	for _, id := range ids {
		if left := all.of(id, ""); len(left) > 0 {
			return fmt.Errorf("%s is still there", left[0])
		}
	}
	return nil
}

func (h *Host) AwaitGone(ids ...string) {
	h.T.Helper()
	h.Await(fmt.Sprint("the pods ", ids, " are gone"), func() error { return h.Gone(ids...) })
}

// Ended checks that pods have run and that none of their containers lives, not even
// the network container.
func (h *Host) Ended(ids ...string) error {
	for _, id := range ids {
		all := h.Of(id, "")
		if len(all) == 0 {
			return fmt.Errorf("pod %s has not run", id)
		}
		for _, c := range all {
			if c.Live() || c.Of == "net" {
				return fmt.Errorf("%s is still there", c)
			}
		}
	}
	return nil
}

// One returns the only live container of a pod by a name.
func (h *Host) One(id, name string) (Container, error) { return h.Containers().One(id, name) }

func (all listing) One(id, name string) (Container, error) {
	live := slices.DeleteFunc(all.of(id, name), func(c Container) bool { return !c.Live() })
	if len(live) != 1 {
		return Container{}, fmt.Errorf("pod %s has %d live containers %q, want 1", id, len(live), name)
	}
	return live[0], nil
}

func (h *Host) Live(id, name string) Container {
	h.T.Helper()
	c, err := h.One(id, name)
	if err != nil {
		h.T.Fatalf("%v\n%s", err, h.Describe())
	}
	return c
}

// Newest returns the newest attempt of a container, dead or alive.
func (h *Host) Newest(id, name string) Container {
	h.T.Helper()
	all := h.Of(id, name)
	if len(all) == 0 {
		h.T.Fatalf("pod %s has no container %q\n%s", id, name, h.Describe())
	}
	return all[len(all)-1]
}

// Exited checks that a container is there and has ended.
func (h *Host) Exited(c Container) error {
	detail, err := h.Inspect(c.ID)
	if err == nil && detail.State.Status != "exited" {
		err = fmt.Errorf("%s is %s", c, detail.State.Status)
	}
	return err
}

func (h *Host) Inspect(id string) (*docker.Container, error) {
	return h.Docker.InspectContainerWithOptions(docker.InspectContainerOptions{ID: id})
}

func (h *Host) MustInspect(id string) *docker.Container {
	h.T.Helper()
	c, err := h.Inspect(id)
	h.Must(err)
	return c
}

// replaced checks that a pod has one live container by a name, other than the old one.
func (h *Host) replaced(old Container) error {
	c, err := h.One(old.Pod, old.Of)
	if err == nil && c.ID == old.ID {
		err = fmt.Errorf("it is still %s", c)
	}
	return err
}

func (h *Host) AwaitReplaced(old Container) Container {
	h.T.Helper()
	h.Await(fmt.Sprint("another container replaces ", old), func() error { return h.replaced(old) })
	return h.Live(old.Pod, old.Of)
}

// Kill kills the live container of a pod by a name, and returns it.
func (h *Host) Kill(id, name string) Container {
	h.T.Helper()
	c := h.Live(id, name)
	h.Must(h.Docker.KillContainer(docker.KillContainerOptions{ID: c.ID}))
	return c
}

// Mend kills the container "main" of pods and waits until the pods are up again. So it
// shows that the kubelet is at work: what it was not to do by then, it has not done.
func (h *Host) Mend(ids ...string) {
	h.T.Helper()
	var killed []Container
	for _, id := range ids {
		killed = append(killed, h.Kill(id, "main"))
	}
	for _, old := range killed {
		h.Await("the kubelet repairs pod "+old.Pod, func() error { return errors.Join(h.Up(old.Pod), h.replaced(old)) })
	}
}

// IDs returns the ids of all live containers, by name.
func (h *Host) IDs() map[string]string {
	h.T.Helper()
	ids := map[string]string{}
	for _, c := range h.Containers() {
		if c.Live() {
			ids[c.Name] = c.ID
		}
	}
	return ids
}

// MustBe checks that exactly the given containers live. Those of the pods in except
// may have changed.
func (h *Host) MustBe(when string, want map[string]string, except ...string) {
	h.T.Helper()
	now := h.IDs()
	for _, all := range []map[string]string{now, want} {
		for name := range all {
			pod := strings.Split(name, "_")[2]
			excepted := slices.ContainsFunc(except, func(id string) bool { return FullName(id) == pod })
			if !excepted && now[name] != want[name] {
				h.T.Errorf("%s: container %s is %.12q, want %.12q", when, name, now[name], want[name])
			}
		}
	}
}
