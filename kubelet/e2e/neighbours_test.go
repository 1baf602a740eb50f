package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

func TestIntegrationTwoKubeletsOnOneDocker(t *testing.T) {
	t.Parallel()
	a, b := newHost(t), newHost(t)
	// The pods have the same names, and one of them the same uuid, so that its
	// containers even want the same names on Docker.
	for _, h := range []*host{a, b} {
		h.write("pod.yaml", sleeper("pod"))
		h.write("same.yaml", sleeper("same")+"uuid: "+a.hostname+"\n")
	}
	up := func(h *host) func() error {
		return func() error {
			if err := h.whole("pod", "main"); err != nil {
				return err
			}
			return h.whole("same", "main")
		}
	}
	ofA := a.start()
	a.eventually("the pods of the first kubelet are up", up(a))
	firstOfA := a.ids()
	ofB := b.start()
	b.eventually("the pods of the second kubelet are up", up(b))
	a.mustBe("when the second kubelet has come", firstOfA)

	b.mendsAnother("same")
	b.mendsAnother("pod")
	a.mustBe("when the second kubelet has mended its pods", firstOfA)
	firstOfB := b.ids()

	a.remove("same.yaml")
	a.eventually("the first kubelet removes the pod that both have", func() error { return a.gone("same") })
	a.mendsAnother("pod")
	ofA.stop()
	if r := a.run("-cleanup"); r.exit != 0 {
		t.Fatalf("-cleanup of the first kubelet: exit %d\n%s", r.exit, r.stderr)
	}
	b.mustBe("when the first kubelet and all its pods are gone", firstOfB)
	b.mendsAnother("same")
	ofB.stop()
}

// mendsAnother shows that the kubelet has looked: it kills the container of a
// sleeper and waits for the next.
func (h *host) mendsAnother(id string) {
	h.t.Helper()
	old := h.live(id, "main")
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: old.id}); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("a killed container of pod "+id+" is back", func() error {
		if err := h.whole(id, "main"); err != nil {
			return err
		}
		return h.replaced(id, "main", old)
	})
}

// mustBe checks that exactly the given containers live.
func (h *host) mustBe(when string, ids map[string]string) {
	h.t.Helper()
	now := h.ids()
	for name, id := range ids {
		if now[name] != id {
			h.t.Errorf("%s: container %s is %q, and was %q", when, name, now[name], id)
		}
	}
	for name := range now {
		if ids[name] == "" {
			h.t.Errorf("%s: container %s is new", when, name)
		}
	}
}

func TestIntegrationForeignContainersAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("web.yaml", sleeper("web"))
	h.write("other.yaml", sleeper("other"))
	strangers := []*docker.Container{
		h.stranger("k8s_x_y_"+h.hostname, helloImage),
		h.stranger("k8s_net.1_web.default.file_"+h.hostname+"_1", helloImage), // of a pod that is wanted
		h.stranger("k8s_main.1_gone.default.file_"+h.hostname+"_1", helloImage),
	}
	p := h.start()
	h.eventually("the pods are up", func() error {
		if err := h.whole("web", "main"); err != nil {
			return err
		}
		return h.whole("other", "main")
	})
	h.remove("other.yaml")
	h.eventually("an unwanted pod is removed", func() error { return h.gone("other") })
	h.untouched("by a running kubelet", strangers...)

	p.stop()
	if r := h.run("-cleanup"); r.exit != 0 {
		t.Fatalf("-cleanup: exit %d\n%s", r.exit, r.stderr)
	}
	if err := h.gone("web"); err != nil {
		t.Error(err)
	}
	h.untouched("by -cleanup", strangers...)
}

func TestIntegrationANameHeldByAStrangerCostsOneAttempt(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	if r := h.run("-config="+h.manifests, "-runonce"); r.exit != 0 {
		t.Fatalf("-runonce: exit %d\n%s", r.exit, r.stderr)
	}
	main, net := h.live("pod", "main"), h.live("pod", "net")
	if r := h.run("-cleanup"); r.exit != 0 {
		t.Fatalf("-cleanup: exit %d\n%s", r.exit, r.stderr)
	}
	next := strings.TrimSuffix(main.name, "1") + "3"
	strangers := []*docker.Container{
		h.stranger(main.name, helloImage),
		h.stranger(net.name, helloImage),
		h.stranger(next, helloImage),
	}

	h.start()
	h.eventually("the pod is up", func() error { return h.whole("pod", "main") })
	for _, c := range []container{h.live("pod", "main"), h.live("pod", "net")} {
		if c.attempt != "2" {
			t.Errorf("%s is attempt %s, want 2: a stranger has the name of the first", c, c.attempt)
		}
	}
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: h.live("pod", "main").id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("a killed container comes back under the next free name", func() error {
		if err := h.whole("pod", "main"); err != nil {
			return err
		}
		c, err := h.one("pod", "main")
		if err == nil && c.attempt != "4" {
			err = fmt.Errorf("it is %s", c)
		}
		return err
	})
	h.untouched("by a kubelet that wanted their names", strangers...)
}

func TestIntegrationACommittedImageMakesAStranger(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", twoContainers)
	h.write("other.yaml", sleeper("other"))
	p := h.start("-maximum_dead_containers_per_container=1")
	h.eventually("the pods are up", h.wholeAll)
	main := h.live("pod", "main")
	image, err := h.docker.CommitContainer(docker.CommitContainerOptions{Container: main.id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.docker.RemoveImageExtended(image.ID, docker.RemoveImageOptions{Force: true}); err != nil {
			t.Errorf("remove image %s: %v", image.ID, err)
		}
	})
	// They bear the labels of the kubelet's own container. The first has the name of
	// a pod that nobody wants, the second that of a container that the pod will want.
	next := strings.TrimSuffix(main.name, "1") + "2"
	strangers := []*docker.Container{
		h.stranger("k8s_main.1_gone.default.file_"+h.hostname+"_1", image.ID),
		h.stranger(next, image.ID),
	}
	for _, s := range strangers {
		if s.Config.Labels["kubelet14.hostname"] != h.hostname {
			t.Fatalf("the copy %s has not the labels of what it was made from: %v", s.Name, s.Config.Labels)
		}
	}

	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: main.id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("the container that was killed has a new attempt beside the copy", func() error {
		c, err := h.inspect(strings.TrimSuffix(main.name, "1") + "3")
		if err == nil && !c.State.Running {
			err = fmt.Errorf("it is %s", c.State.String())
		}
		return err
	})
	h.remove("other.yaml")
	h.eventually("an unwanted pod is removed", func() error { return h.gone("other") })
	h.untouched("by a running kubelet", strangers...)

	p.stop()
	if r := h.run("-cleanup"); r.exit != 0 {
		t.Fatalf("-cleanup: exit %d\n%s", r.exit, r.stderr)
	}
	h.untouched("by -cleanup", strangers...)
	for _, s := range strangers {
		h.removeByID(s.ID)
	}
}

// stranger runs a container that no kubelet made. It ends by itself, should the
// test be killed.
func (h *host) stranger(name, image string) *docker.Container {
	h.t.Helper()
	created, err := h.docker.CreateContainer(docker.CreateContainerOptions{
		Name:       name,
		Config:     &docker.Config{Image: image, Cmd: []string{"/hello", "sleep", "-for", "30m"}},
		HostConfig: &docker.HostConfig{AutoRemove: true, NetworkMode: "none"},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { h.removeByID(created.ID) })
	if err := h.docker.StartContainer(created.ID, nil); err != nil {
		h.t.Fatal(err)
	}
	c, err := h.inspect(created.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// removeByID removes a container if it is still there.
func (h *host) removeByID(id string) {
	h.t.Helper()
	err := h.docker.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true, RemoveVolumes: true})
	if _, gone := err.(*docker.NoSuchContainer); err != nil && !gone {
		h.t.Errorf("remove container %s: %v", id, err)
	}
}

// untouched checks that containers run as they did, under the names they had.
func (h *host) untouched(by string, before ...*docker.Container) {
	h.t.Helper()
	for _, was := range before {
		now, err := h.inspect(was.ID)
		if err != nil {
			h.t.Errorf("container %s was touched %s: %v", was.Name, by, err)
			continue
		}
		if !now.State.Running || now.State.Paused || !now.State.StartedAt.Equal(was.State.StartedAt) || now.Name != was.Name {
			h.t.Errorf("container %s was touched %s: it is %s %s now", was.Name, by, now.Name, now.State.String())
		}
	}
}

func TestIntegrationHalfAnIdentityStopsTheStart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("pod.yaml", sleeper("pod"))
	if r := h.run("-config="+h.manifests, "-runonce"); r.exit != 0 {
		t.Fatalf("-runonce: exit %d\n%s", r.exit, r.stderr)
	}
	before := h.ids()
	otherRoot := filepath.Join(t.TempDir(), "other")
	otherName := h.hostname + "-other"
	for _, half := range []struct{ name, flag, hostname, rootDir string }{
		{"the same hostname and another root_dir", "-root_dir=" + otherRoot, h.hostname, otherRoot},
		{"the same root_dir and another hostname", "-hostname_override=" + otherName, otherName, h.rootDir},
	} {
		for _, mode := range []string{"-runonce=false", "-runonce", "-dry_run"} {
			exit, said := h.refused(half.flag, mode)
			if exit != 1 {
				t.Errorf("%s, %s: exit %d, want 1\n%s", half.name, mode, exit, said)
			}
			for _, word := range []string{
				fmt.Sprintf("hostname %q and root_dir %q", h.hostname, h.rootDir),
				fmt.Sprintf("hostname %q and root_dir %q", half.hostname, half.rootDir),
				"-hostname_override=" + h.hostname + " -root_dir=" + h.rootDir, "-cleanup",
			} {
				if !strings.Contains(said, word) {
					t.Errorf("%s, %s: the error does not say %q:\n%s", half.name, mode, word, said)
				}
			}
		}
	}
	h.mustBe("after starts that were refused", before)
}

// refused starts a kubelet that must end by itself, and returns its exit code and
// what it has said.
func (h *host) refused(flags ...string) (exit int, said string) {
	h.t.Helper()
	p := h.start(flags...)
	err := waitFor(func() error {
		if p.running() {
			return fmt.Errorf("it works, and should have refused to")
		}
		return nil
	})
	if err != nil {
		h.t.Errorf("%q: %v", flags, err)
		p.kill()
	}
	return p.cmd.ProcessState.ExitCode(), p.log.String()
}
