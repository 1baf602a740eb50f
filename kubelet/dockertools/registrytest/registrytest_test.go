package registrytest_test

import (
	"errors"
	"slices"
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
	must(t, err)
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
	must(t, pull(t, client, image.Ref))
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
		must(t, err)
		t.Cleanup(func() {
			must(t, client.RemoveContainer(docker.RemoveContainerOptions{ID: made.ID}))
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

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
