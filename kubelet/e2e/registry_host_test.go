package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools/registrytest"
	"kubelet14/kubelet/e2e/hosttest"
)

// registryHost is a host with a registry and a Docker configuration of its own, without any login.
type registryHost struct {
	*host
	registry     *registrytest.Registry
	dockerConfig string // $DOCKER_CONFIG of its kubelets
}

func newRegistryHost(t testing.TB) *registryHost {
	t.Helper()
	registry := registrytest.New(t) // before the host, whose containers use its images
	h := &registryHost{newHost(t), registry, t.TempDir()}
	h.Env = []string{"DOCKER_CONFIG=" + h.dockerConfig}
	return h
}

// imagePod is a pod of one container; more are lines of that container.
func imagePod(id, image string, more ...string) string {
	return strings.Replace(hosttest.Block(id, "/hello, sleep"), "HELLO", strings.Join(append([]string{image}, more...), "\n    "), 1)
}

// pull gets an image as a person does with `docker pull`.
func (h *registryHost) pull(image registrytest.Image) {
	h.T.Helper()
	repo, tag := docker.ParseRepositoryTag(image.Ref)
	h.Must(h.Docker.PullImage(docker.PullImageOptions{Context: h.T.Context(), Repository: repo, Tag: tag}, docker.AuthConfiguration{}))
}

// awaitRuns waits until a pod of one container is up and runs exactly this image.
func (h *host) awaitRuns(id string, image registrytest.Image) {
	h.T.Helper()
	h.Await(fmt.Sprintf("pod %s runs image %s", id, image.Ref), func() error {
		c, err := h.One(id, "main")
		if err := errors.Join(err, h.Up(id)); err != nil {
			return err
		}
		detail, err := h.Inspect(c.ID)
		if err == nil && detail.Image != image.ID && !strings.HasSuffix(image.ByDigest, "@"+detail.Image) {
			err = fmt.Errorf("%s runs image %s, want %s", c, detail.Image, image.ID)
		}
		return err
	})
}
