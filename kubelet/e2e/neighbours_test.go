package e2e

import (
	"errors"
	"strings"
	"testing"

	"kubelet14/kubelet/dockertools"

	docker "github.com/fsouza/go-dockerclient"
)

// Containers of others are left alone, whatever names and labels they have.
func TestIntegrationOtherContainersAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web", "other")
	// If the name of the next attempt is taken, the attempt after it is used.
	h.MustRun("-config="+h.Manifests, "-runonce")
	main, net := h.Live("web", "main"), h.Live("web", "net")
	image := h.commit(main.ID, nil) // with the labels of the kubelet's own container
	h.MustRun("-cleanup")
	third := strings.TrimSuffix(main.Name, "1") + "3"
	strangers := []*docker.Container{
		h.stranger("k8s_x_y_"+h.Hostname, dockertools.HelloImage),
		h.stranger("k8s_main.1_gone.default.file_"+h.Hostname+"_1", dockertools.HelloImage),
		h.stranger(main.Name, dockertools.HelloImage),
		h.stranger(net.Name, dockertools.HelloImage),
	}
	copies := []*docker.Container{h.stranger("k8s_main.1_gone.default.file_"+h.Hostname+"_2", image), h.stranger(third, image)}
	for _, c := range copies {
		if c.Config.Labels["kubelet14.hostname"] != h.Hostname {
			t.Fatalf("the copy %s has the labels %v", c.Name, c.Config.Labels)
		}
	}
	p := h.Start("-maximum_dead_containers_per_container=1")
	p.AwaitUp("web", "other")
	second := strings.TrimSuffix(main.Name, "1") + "2"
	h.Must(h.Docker.KillContainer(docker.KillContainerOptions{ID: second}))
	p.AwaitLog("web.default.file", `started container "main" (attempt 4)`) // the next free name
	h.Remove("other")
	h.AwaitGone("other")
	h.untouched("by a running kubelet", append(strangers, copies...)...)
	p.Stop()
	h.MustRun("-cleanup")
	h.untouched("by -cleanup", append(strangers, copies...)...)
	for _, c := range copies {
		h.removeByID(c.ID) // they count as the host's
	}
}

// stranger runs a container that no kubelet made. It ends by itself if the test is
// killed.
func (h *host) stranger(name, image string) *docker.Container {
	h.T.Helper()
	created, err := h.Docker.CreateContainer(docker.CreateContainerOptions{
		Name:       name,
		Config:     &docker.Config{Image: image, Cmd: []string{"/hello", "sleep", "-for", "30m"}},
		HostConfig: &docker.HostConfig{AutoRemove: true, NetworkMode: "none"},
	})
	h.Must(err)
	h.T.Cleanup(func() { h.removeByID(created.ID) })
	h.Must(h.Docker.StartContainer(created.ID, nil))
	return h.MustInspect(created.ID)
}

// removeByID removes a container if it still exists.
func (h *host) removeByID(id string) {
	h.T.Helper()
	err := h.Docker.RemoveContainer(docker.RemoveContainerOptions{ID: id, Force: true, RemoveVolumes: true})
	if gone := (*docker.NoSuchContainer)(nil); !errors.As(err, &gone) {
		h.Check(err)
	}
}

// untouched checks that containers run as before, under the same names.
func (h *host) untouched(by string, before ...*docker.Container) {
	h.T.Helper()
	for _, was := range before {
		now, err := h.Inspect(was.ID)
		if err != nil || !now.State.Running || now.State.Paused || !now.State.StartedAt.Equal(was.State.StartedAt) || now.Name != was.Name {
			h.T.Errorf("container %s was touched %s: it is %+v now, %v", was.Name, by, now, err)
		}
	}
}
