package registrytest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
)

// label marks every image that was pushed, for tests that were killed.
const label = "kubelet14.test.registry"

// removeImages removes from Docker all images pulled from the registry at an
// address, and those older than any test run that were pulled from another.
func removeImages(tb testing.TB, address string) {
	tb.Helper()
	client, err := docker.NewClientFromEnv()
	unittest.Must(tb, err)
	defer client.HTTPClient.CloseIdleConnections()
	images, err := client.ListImages(docker.ListImagesOptions{Filters: map[string][]string{"label": {label}}})
	unittest.Must(tb, err)
	for _, image := range images {
		old := time.Since(time.Unix(image.Created, 0)) > time.Hour
		for _, ref := range slices.Concat(image.RepoTags, image.RepoDigests) {
			if strings.HasPrefix(ref, "<none>") {
				ref = image.ID // Docker lists an image that has no name any more like this
			}
			if strings.HasPrefix(ref, address+"/") || old {
				removeImage(tb, client, ref)
			}
		}
	}
}

// removeImage waits until Docker lets go of an image: for a moment after the removal of a container it still counts as its
// image, and if another test removes the same image at this moment, Docker answers with an internal error.
func removeImage(tb testing.TB, client *docker.Client, ref string) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := client.RemoveImage(ref)
		var answer *docker.Error
		switch {
		case err == nil || errors.Is(err, docker.ErrNoSuchImage):
			return
		case !errors.As(err, &answer) || answer.Status != http.StatusConflict && answer.Status != http.StatusInternalServerError || time.Now().After(deadline):
			tb.Errorf("remove image %s: %v", ref, err)
			return
		}
	}
}
