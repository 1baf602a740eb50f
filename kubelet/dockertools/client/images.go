package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

func (c *Client) InspectImage(ctx context.Context, image string) (id string, err error) {
	found, err := c.inspectImage(ctx, image)
	if err != nil {
		return "", err
	}
	return found.ID, nil
}

func (c *Client) inspectImage(ctx context.Context, image string) (found *docker.Image, err error) {
	err = c.call(ctx, callLimit, fmt.Sprintf("inspect image %q", image), func(_ context.Context, api *docker.Client) (err error) {
		found, err = api.InspectImage(image)
		return err
	})
	return found, err
}

// ImportImage takes the name from the image that had it before, which stays;
// EnsureImage is the one that tidies up.
func (c *Client) ImportImage(ctx context.Context, image string, tar io.Reader) error {
	what := fmt.Sprintf("import image %q", image)
	name, tag := docker.ParseRepositoryTag(image)
	if tag == "" {
		return fmt.Errorf("%s: the name needs a tag, such as %s:1", what, image)
	}
	return c.call(ctx, importLimit, what, func(_ context.Context, api *docker.Client) error {
		query := url.Values{"fromSrc": {"-"}, "repo": {name}, "tag": {tag}}
		return c.createImage(api, query, nil, tar, func(dockertools.PullProgress) {})
	})
}

// EnsureImage makes the named image hold exactly the files of an uncompressed
// tar. It does nothing and returns false when that is so already: Docker knows an
// image's layers by the digest of their tar. The image that had the name before
// is removed, unless it has another one or a container.
//
// Two callers at once for one name may leave an image without a name behind.
func (c *Client) EnsureImage(ctx context.Context, image string, tar []byte) (imported bool, err error) {
	old, err := c.inspectImage(ctx, image)
	if err != nil && !errors.Is(err, dockertools.ErrNoSuchImage) {
		return false, err
	}
	layer := fmt.Sprintf("sha256:%x", sha256.Sum256(tar))
	if old != nil && old.RootFS != nil && slices.Equal(old.RootFS.Layers, []string{layer}) {
		return false, nil
	}
	if err := c.ImportImage(ctx, image, bytes.NewReader(tar)); err != nil {
		return false, err
	}
	if old == nil || len(old.RepoTags) > 1 {
		return true, nil
	}
	return true, c.call(ctx, callLimit, fmt.Sprintf("remove image %q", old.ID), func(ctx context.Context, api *docker.Client) error {
		err := api.RemoveImageExtended(old.ID, docker.RemoveImageOptions{Context: ctx})
		inUse := (*docker.Error)(nil)
		if errors.Is(err, docker.ErrNoSuchImage) || errors.As(err, &inUse) && inUse.Status == http.StatusConflict {
			return nil
		}
		return err
	})
}
