package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools/registrytest"
)

// registryHost is a host that has a registry beside it, and a Docker configuration
// of its own, in which nobody is logged in anywhere.
type registryHost struct {
	*host
	registry     *registrytest.Registry
	dockerConfig string // $DOCKER_CONFIG of its kubelets
}

func newRegistryHost(t testing.TB) *registryHost {
	t.Helper()
	registry := registrytest.New(t) // before the host, whose containers keep its images
	h := &registryHost{newHost(t), registry, t.TempDir()}
	h.env = []string{"DOCKER_CONFIG=" + h.dockerConfig}
	return h
}

// imagePod is a pod of one container that runs an image; more are lines of that
// container.
func imagePod(id, image string, more ...string) string {
	lines := append([]string{"  - name: main", "image: " + image, "command: [/hello, sleep]"}, more...)
	return "version: v1beta1\nid: " + id + "\ncontainers:\n" + strings.Join(lines, "\n    ") + "\n"
}

// put makes a pod of one container wanted, in a file of its own.
func (h *registryHost) put(id, image string, more ...string) {
	h.t.Helper()
	h.write(id+".yaml", imagePod(id, image, more...))
}

// edit changes the container of a pod, to one of that image, and waits for it.
func (h *registryHost) edit(id, image string, more ...string) {
	h.t.Helper()
	old := h.live(id, "main")
	h.put(id, image, append(more, fmt.Sprintf("env: [{name: EDIT, value: \"after %s\"}]", old.attempt))...)
	h.eventually("the edit of pod "+id+" counts", func() error { return h.replaced(id, "main", old) })
}

// pull gets an image as a person does with `docker pull`.
func (h *registryHost) pull(image registrytest.Image) {
	h.t.Helper()
	repo, tag := docker.ParseRepositoryTag(image.Ref)
	err := h.docker.PullImage(docker.PullImageOptions{Context: h.t.Context(), Repository: repo, Tag: tag}, docker.AuthConfiguration{})
	if err != nil {
		h.t.Fatal(err)
	}
}

// awaitRuns waits until a pod of one container is whole and runs this very image.
func (h *registryHost) awaitRuns(id string, image registrytest.Image) {
	h.t.Helper()
	h.eventually(fmt.Sprintf("pod %s runs image %s", id, image.Ref), func() error { return h.runs(id, image) })
}

func (h *registryHost) runs(id string, image registrytest.Image) error {
	if err := h.sleepersAre(id); err != nil {
		return err
	}
	c, err := h.one(id, "main")
	if err != nil {
		return err
	}
	detail, err := h.inspect(c.id)
	if err == nil && detail.Image != image.ID {
		err = fmt.Errorf("%s runs image %s, want %s", c, detail.Image, image.ID)
	}
	return err
}

// killMain kills the container of a pod of one and waits until it is dead.
func (h *registryHost) killMain(id string) (killed container) {
	h.t.Helper()
	killed = h.live(id, "main")
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: killed.id}); err != nil {
		h.t.Fatal(err)
	}
	h.eventually("the container is dead", func() error {
		detail, err := h.inspect(killed.id)
		if err == nil && detail.State.Running {
			err = fmt.Errorf("%s runs", killed)
		}
		return err
	})
	return killed
}

// mustHaveAsked checks how often the registry was asked for an image, by whomever.
func (h *registryHost) mustHaveAsked(times int, when, repoTag string) {
	h.t.Helper()
	if pulls := h.registry.Pulls(repoTag); len(pulls) != times {
		h.t.Errorf("%s the registry was asked for %s at %v, want %d times", when, repoTag, pulls, times)
	}
}

// replaceFile puts a file into a directory in one go.
func replaceFile(t testing.TB, dir, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+".tmp", []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}
