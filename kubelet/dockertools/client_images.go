package dockertools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	docker "github.com/fsouza/go-dockerclient"
)

// InspectImage implements Interface.
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

// ImportImage implements Interface. An image that had the name before loses it
// and stays; EnsureImage is the one that tidies up.
func (c *Client) ImportImage(ctx context.Context, image string, tar io.Reader) error {
	what := fmt.Sprintf("import image %q", image)
	colon := strings.LastIndex(image, ":")
	if colon <= strings.LastIndex(image, "/") {
		return fmt.Errorf("%s: the name needs a tag, such as %s:1", what, image)
	}
	return c.call(ctx, importLimit, what, func(ctx context.Context, api *docker.Client) error {
		return api.ImportImage(docker.ImportImageOptions{
			Repository:  image[:colon],
			Tag:         image[colon+1:],
			Source:      "-",
			InputStream: tar,
			Context:     ctx,
		})
	})
}

// EnsureImage makes the named image hold exactly the files of an uncompressed
// tar. It does nothing and returns false when that is so already: Docker knows an
// image's layers by the digest of their tar. The image that had the name before
// is removed, unless something still uses it.
//
// Two callers at once for one name may leave an image without a name behind.
func (c *Client) EnsureImage(ctx context.Context, image string, tar []byte) (imported bool, err error) {
	old, err := c.inspectImage(ctx, image)
	if err != nil && !errors.Is(err, ErrNoSuchImage) {
		return false, err
	}
	layer := fmt.Sprintf("sha256:%x", sha256.Sum256(tar))
	if old != nil && old.RootFS != nil && len(old.RootFS.Layers) == 1 && old.RootFS.Layers[0] == layer {
		return false, nil
	}
	if err := c.ImportImage(ctx, image, bytes.NewReader(tar)); err != nil {
		return false, err
	}
	if old != nil {
		return true, c.removeUnused(ctx, old.ID)
	}
	return true, nil
}

// removeUnused removes an image that has no name left and no container.
func (c *Client) removeUnused(ctx context.Context, id string) error {
	found, err := c.inspectImage(ctx, id)
	if errors.Is(err, ErrNoSuchImage) || err == nil && len(found.RepoTags) > 0 {
		return nil
	}
	if err != nil {
		return err
	}
	err = c.call(ctx, callLimit, fmt.Sprintf("remove image %q", id), func(ctx context.Context, api *docker.Client) error {
		return api.RemoveImageExtended(id, docker.RemoveImageOptions{Context: ctx})
	})
	if no := (*refusal)(nil); errors.As(err, &no) && no.status == http.StatusConflict {
		return nil // a container is made of it
	}
	return err
}
