package registrytest_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"go.uber.org/goleak"

	"kubelet14/kubelet/dockertools/registrytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDocker(t *testing.T) *docker.Client {
	t.Helper()
	client, err := docker.NewClientFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.HTTPClient.CloseIdleConnections)
	return client
}

func pull(t *testing.T, client *docker.Client, ref string) error {
	t.Helper()
	repo, tag := docker.ParseRepositoryTag(ref)
	return client.PullImage(docker.PullImageOptions{Context: t.Context(), Repository: repo, Tag: tag}, docker.AuthConfiguration{})
}

func mustPull(t *testing.T, client *docker.Client, image registrytest.Image) {
	t.Helper()
	if err := pull(t, client, image.Ref); err != nil {
		t.Fatal(err)
	}
	if found, err := client.InspectImage(image.Ref); err != nil || found.ID != image.ID {
		t.Fatalf("pulled: %+v, %v; want id %s", found, err, image.ID)
	}
}

func TestIntegrationImagesGoWithTheTest(t *testing.T) {
	client := newDocker(t)
	var images []registrytest.Image
	t.Run("inner", func(t *testing.T) {
		r := registrytest.New(t)
		for range 2 { // the second takes the name away from the first
			images = append(images, r.Push("team/web:1"))
			mustPull(t, client, images[len(images)-1])
		}
		// One container is of an image that has no name left.
		made, err := client.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: images[0].ID}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.RemoveContainer(docker.RemoveContainerOptions{ID: made.ID}); err != nil {
				t.Error(err)
			}
		})
	})
	for _, image := range images {
		if _, err := client.InspectImage(image.ID); !errors.Is(err, docker.ErrNoSuchImage) {
			t.Errorf("image %+v: %v", image, err)
		}
	}
}

func TestIntegrationPullsAreCounted(t *testing.T) {
	client := newDocker(t)
	r := registrytest.New(t)
	began := time.Now()
	image := r.Push("team/web", 1<<20)
	for range 2 {
		mustPull(t, client, image)
	}
	if err := pull(t, client, r.Addr()+"/other:1"); err == nil {
		t.Error("an image was pulled that was not pushed")
	}
	for _, test := range []struct {
		names []string
		want  int
	}{
		{[]string{"team/web"}, 2},
		{[]string{"team/web:latest"}, 2},
		{[]string{"other:1"}, 1},
		{[]string{"other:1", "team/web"}, 3},
		{[]string{"web"}, 0},
		{nil, 3},
	} {
		times := r.Pulls(test.names...)
		if len(times) != test.want || !slices.IsSortedFunc(times, time.Time.Compare) || slices.ContainsFunc(times, began.After) {
			t.Errorf("pulls of %q: %v, want %d", test.names, times, test.want)
		}
	}
	// The second pull has fetched nothing: a configuration and two layers.
	if requests, bytes := r.Blobs(); requests != 3 || bytes < 1<<20 {
		t.Errorf("%d blobs with %d bytes were fetched", requests, bytes)
	}
}

func TestIntegrationAStoppedRegistryRefuses(t *testing.T) {
	client := newDocker(t)
	r := registrytest.New(t)
	image := r.Push("web:1")
	mustPull(t, client, image)

	// Step: stop it while it holds somebody.
	r.HoldBlobs()
	ended := make(chan error, 1)
	go func() {
		answer, err := http.Get("http://" + r.Addr() + "/v2/web/blobs/" + image.ID)
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			answer.Body.Close()
		}
		ended <- err
	}()
	r.AwaitHeld()
	r.Stop()
	if err := <-ended; err == nil {
		t.Error("who was held has got it all")
	}
	if conn, err := net.Dial("tcp", r.Addr()); err == nil {
		conn.Close()
		t.Error("somebody listens at the address of a stopped registry")
	}

	// Step: start it.
	r.MendBlobs()
	r.Start()
	answer, err := http.Get("http://" + r.Addr() + "/v2/web/blobs/" + image.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	config, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(config), "/hello") {
		t.Errorf("configuration of the image: %s, %v", config, err)
	}
}
