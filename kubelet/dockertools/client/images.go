package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// InspectImage makes its own request, because the library's takes no context.
func (c *Client) InspectImage(ctx context.Context, image string) (id, user string, err error) {
	var found struct {
		ID     string
		Config struct{ User string }
	}
	r := c.begin(ctx, "inspect image %q", image)
	err = r.end(r.getJSON("images/"+image+"/json", nil, &found))
	return found.ID, found.Config.User, err
}

// ImageLayers makes its own request, because the library's takes no context.
func (c *Client) ImageLayers(ctx context.Context, image string) ([]string, error) {
	var found struct{ RootFS struct{ Layers []string } }
	r := c.begin(ctx, "inspect image %q", image)
	err := r.end(r.getJSON("images/"+image+"/json", nil, &found))
	return found.RootFS.Layers, err
}

func (c *Client) ListImages(ctx context.Context) (images []dockertools.Image, err error) {
	r := c.begin(ctx, "list images")
	list, err := c.api.ListImages(docker.ListImagesOptions{Context: r.ctx})
	noName := func(name string) bool { return strings.HasPrefix(name, "<none>") }          // the image has lost its last name
	noTag := func(name string) bool { return noName(name) || strings.Contains(name, "@") } // containerd lists digests among the tags
	for _, i := range list {
		images = append(images, dockertools.Image{
			ID: i.ID, Tags: slices.DeleteFunc(i.RepoTags, noTag), Digests: slices.DeleteFunc(i.RepoDigests, noName),
			Size: i.Size, Created: time.Unix(i.Created, 0),
		})
	}
	return images, r.end(err)
}

func (c *Client) RemoveImage(ctx context.Context, image string) error {
	r := c.begin(ctx, "remove image %q", image)
	return r.end(c.api.RemoveImageExtended(image, docker.RemoveImageOptions{Context: r.ctx}))
}

func (c *Client) ImportImage(ctx context.Context, image string, tar io.Reader) error {
	r := c.begin(ctx, "import image %q", image)
	r.limit = importLimit
	name, tag := docker.ParseRepositoryTag(image)
	query := url.Values{"fromSrc": {"-"}, "repo": {name}, "tag": {tag}}
	return r.end(r.createImage(query, nil, tar, func(dockertools.PullProgress) {}))
}

func (c *Client) PullImage(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return fmt.Errorf("pull image %q: %w", image, err)
	}
	r := c.begin(ctx, "pull image %q", image)
	r.limit = pullLimit
	// Without a tag or a digest, Docker would pull every tag.
	query := url.Values{"fromImage": {reference.TagNameOnly(named).String()}}
	secret, _ := json.Marshal(auth) // strings always marshal
	header := http.Header{"X-Registry-Auth": {base64.URLEncoding.EncodeToString(secret)}}
	err = r.createImage(query, header, nil, progress)
	if refused, ok := errors.AsType[*apiError](err); ok {
		refused.kind = pullErrorKind(refused.text)
		refused.text = imageAgain.ReplaceAllString(refused.text, "$1$2") // the call names the image already
	}
	return r.end(err)
}

// imageAgain matches the image's name in Docker's usual answers.
var imageAgain = regexp.MustCompile(`^(?:(manifest|pull access denied) for|(repository)) [^\s,]+`)

// pullErrorKind derives the registry's answer from Docker's words. Docker Hub answers "pull
// access denied" for images that do not exist, too.
func pullErrorKind(text string) error {
	text = strings.ReplaceAll(strings.ToLower(text), "_", " ") // so that the code MANIFEST_UNKNOWN matches too
	has := func(words string) bool { return strings.Contains(text, words) }
	switch {
	case has("no basic auth credentials"):
		return dockertools.ErrUnauthorised
	case has("manifest unknown"), has("name unknown"), has("pull access denied"), strings.HasSuffix(text, ": not found"):
		return dockertools.ErrImageNotFound
	case has("unauthorized"):
		return dockertools.ErrUnauthorised
	}
	return nil
}

// createImage sends the request for a pull or an import, and reads the messages in the
// answer. The library's calls return either the progress or the error.
func (r *call) createImage(query url.Values, header http.Header, tar io.Reader, progress func(dockertools.PullProgress)) error {
	body, err := r.open(http.MethodPost, "images/create", query, header, tar)
	if err != nil {
		return err
	}
	layers := pullLayers{}
	for decoder := json.NewDecoder(body); ; {
		var m pullMessage
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if text := m.ErrorDetail.Message; text != "" {
			return &apiError{text: text}
		}
		layers.update(m)
		progress(layers.progress())
	}
}

// pullMessage is one of Docker's messages during a pull. Only Status, a text for display, has the state.
type pullMessage struct {
	Status         string
	ID             string // of a layer, or a tag
	ErrorDetail    struct{ Message string }
	ProgressDetail struct{ Current, Total int64 }
}

// pullLayers is the progress of each layer by its id.
type pullLayers map[string]*pullLayer

type pullLayer struct {
	done         bool
	bytes, total int64
}

func (l pullLayers) update(m pullMessage) {
	if m.ID == "" || strings.HasPrefix(m.Status, "Pulling from ") {
		return // it is about the image
	}
	if l[m.ID] == nil {
		l[m.ID] = &pullLayer{}
	}
	layer := l[m.ID]
	switch m.Status {
	case "Downloading":
		layer.bytes, layer.total = m.ProgressDetail.Current, max(m.ProgressDetail.Current, m.ProgressDetail.Total)
	case "Download complete", "Extracting": // a busy Docker may omit all messages but the last
		layer.bytes = layer.total
	case "Already exists", "Pull complete":
		layer.bytes, layer.done = layer.total, true
	}
}

func (l pullLayers) progress() dockertools.PullProgress {
	p := dockertools.PullProgress{Layers: len(l)}
	for _, layer := range l {
		p.Bytes += layer.bytes
		p.TotalBytes += layer.total
		if layer.done {
			p.LayersDone++
		}
	}
	return p
}
