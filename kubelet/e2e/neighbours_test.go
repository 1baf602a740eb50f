package e2e

import (
	"errors"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// Containers of others are left alone, whatever names and labels they have.
func TestIntegrationOtherContainersAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.writeSleepers("web", "other")
	// Step: where the name of the next attempt is taken, the one after that is used.
	h.mustRun("-config="+h.manifests, "-runonce")
	main, net := h.live("web", "main"), h.live("web", "net")
	image := h.commit(main.id, nil) // with the labels of the kubelet's own container
	h.mustRun("-cleanup")
	third := strings.TrimSuffix(main.name, "1") + "3"
	strangers := []*docker.Container{
		h.stranger("k8s_x_y_"+h.hostname, helloImage),
		h.stranger("k8s_main.1_gone.default.file_"+h.hostname+"_1", helloImage),
		h.stranger(main.name, helloImage),
		h.stranger(net.name, helloImage),
	}
	copies := []*docker.Container{h.stranger("k8s_main.1_gone.default.file_"+h.hostname+"_2", image), h.stranger(third, image)}
	for _, c := range copies {
		if c.Config.Labels["kubelet14.hostname"] != h.hostname {
			t.Fatalf("the copy %s has the labels %v", c.Name, c.Config.Labels)
		}
	}
	p := h.start("-maximum_dead_containers_per_container=1")
	p.awaitUp("web", "other")
	second := strings.TrimSuffix(main.name, "1") + "2"
	h.must(h.docker.KillContainer(docker.KillContainerOptions{ID: second}))
	p.awaitLog("web.default.file", `started container "main" (attempt 4)`) // the next free name
	h.remove("other")
	h.awaitGone("other")
	h.untouched("by a running kubelet", append(strangers, copies...)...)
	p.stop()
	h.mustRun("-cleanup")
	h.untouched("by -cleanup", append(strangers, copies...)...)
	for _, c := range copies {
		h.removeByID(c.ID) // they count as the host's
	}
}

// stranger runs a container that no kubelet made. It ends by itself if the test is
// killed.
func (h *host) stranger(name, image string) *docker.Container {
	h.t.Helper()
	created, err := h.docker.CreateContainer(docker.CreateContainerOptions{
		Name:       name,
		Config:     &docker.Config{Image: image, Cmd: []string{"/hello", "sleep", "-for", "30m"}},
		HostConfig: &docker.HostConfig{AutoRemove: true, NetworkMode: "none"},
	})
	h.must(err)
	h.t.Cleanup(func() { h.removeByID(created.ID) })
	h.must(h.docker.StartContainer(created.ID, nil))
	return h.mustInspect(created.ID)
}

// removeByID removes a container if it is still there.
func (h *host) removeByID(id string) {
	h.t.Helper()
	err := h.docker.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true, RemoveVolumes: true})
	if gone := (*docker.NoSuchContainer)(nil); !errors.As(err, &gone) {
		h.check(err)
	}
}

// untouched checks that containers run as before, under the same names.
func (h *host) untouched(by string, before ...*docker.Container) {
	h.t.Helper()
	for _, was := range before {
		now, err := h.inspect(was.ID)
		if err != nil || !now.State.Running || now.State.Paused || !now.State.StartedAt.Equal(was.State.StartedAt) || now.Name != was.Name {
			h.t.Errorf("container %s was touched %s: it is %+v now, %v", was.Name, by, now, err)
		}
	}
}
