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

func TestIntegrationPullsAreCountedAndImagesGoWithTheTest(t *testing.T) {
	client, err := docker.NewClientFromEnv()
	must(t, err)
	t.Cleanup(client.HTTPClient.CloseIdleConnections)
	pull := func(ref string) error {
		repo, tag := docker.ParseRepositoryTag(ref)
		return client.PullImage(docker.PullImageOptions{Context: t.Context(), Repository: repo, Tag: tag}, docker.AuthConfiguration{})
	}
	var images []registrytest.Image
	t.Run("inner", func(t *testing.T) {
		r := registrytest.New(t)
		began := time.Now()
		for range 2 { // the second takes the name away from the first
			image := r.Push("team/web", 1<<20)
			images = append(images, image)
			must(t, pull(image.Ref), pull(image.Ref))
			if found, err := client.InspectImage(image.Ref); err != nil || found.ID != image.ID {
				t.Fatalf("pulled: %+v, %v; want id %s", found, err, image.ID)
			}
		}
		if err := pull(r.Addr() + "/other:1"); err == nil {
			t.Error("an image was pulled that was not pushed")
		}
		for _, test := range []struct {
			names []string
			want  int
		}{
			{[]string{"team/web"}, 4}, {[]string{"team/web:latest"}, 4}, {[]string{"other:1"}, 1},
			{[]string{"other:1", "team/web"}, 5}, {[]string{"web"}, 0}, {nil, 5},
		} {
			times := r.Pulls(test.names...)
			if len(times) != test.want || !slices.IsSortedFunc(times, time.Time.Compare) || slices.ContainsFunc(times, began.After) {
				t.Errorf("pulls of %q: %v, want %d", test.names, times, test.want)
			}
		}
		// A second pull of the same image fetches nothing: it has a configuration and two layers.
		if requests, bytes := r.Blobs(); requests < 4 || requests > 6 || bytes < 1<<20 {
			t.Errorf("%d blobs with %d bytes were fetched", requests, bytes)
		}
		// One container is of an image that has no name left.
		made, err := client.CreateContainer(docker.CreateContainerOptions{Config: &docker.Config{Image: images[0].ID}})
		must(t, err)
		t.Cleanup(func() { must(t, client.RemoveContainer(docker.RemoveContainerOptions{ID: made.ID})) })
	})
	for _, image := range images {
		if _, err := client.InspectImage(image.ID); !errors.Is(err, docker.ErrNoSuchImage) {
			t.Errorf("image %+v: %v", image, err)
		}
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
