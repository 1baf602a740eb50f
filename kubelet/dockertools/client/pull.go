package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/distribution/reference"
	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// pullSilence is how long a pull may say nothing. Docker tells of every piece it
// gets, and of its waits and new tries when the registry is slow.
const pullSilence = 5 * time.Minute

func (c *Client) PullImage(ctx context.Context, image string, auth dockertools.Auth, progress func(dockertools.PullProgress)) error {
	what := fmt.Sprintf("pull image %q", image)
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	ctx, silent, end := unlessSilent(ctx, pullSilence,
		fmt.Errorf("no answer from Docker at %s for %v; the registry may hang, or other pulls may keep Docker busy", c.endpoint, pullSilence))
	defer end()

	err = c.exchange(ctx, what, func(ctx context.Context, api *docker.Client) error {
		return c.createImage(api, pullQuery(named), authHeader(auth), nil, func(p dockertools.PullProgress) {
			silent.Reset(pullSilence)
			progress(p)
		})
	})
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		refused.kind = pullKind(refused.text)
	}
	return err
}

// pullKind finds out what the registry has said from Docker's account of it. "Pull
// access denied" counts as not found: so a registry answers who may not see an
// image, and so Docker Hub answers for one that does not exist.
func pullKind(text string) error {
	text = strings.ToLower(text)
	says := func(words string) bool { return strings.Contains(text, words) }
	switch {
	case says("manifest unknown"), says("name unknown"), says("pull access denied"), strings.HasSuffix(text, ": not found"):
		return dockertools.ErrImageNotFound
	case says("unauthorized"), says("no basic auth credentials"):
		return dockertools.ErrUnauthorised
	}
	return nil
}

// pullQuery always names a tag or a digest: without one Docker pulls every tag.
func pullQuery(named reference.Named) url.Values {
	query := url.Values{"fromImage": {named.Name()}}
	switch named := reference.TagNameOnly(named).(type) {
	case reference.Digested:
		query.Set("tag", named.Digest().String())
	case reference.Tagged:
		query.Set("tag", named.Tag())
	}
	return query
}

// pullMessage is one of the many that Docker sends during a pull. Status is a
// sentence for people, and there is nothing better to go by.
type pullMessage struct {
	Status         string
	ID             string // of a layer, or a tag
	Error          string
	ProgressDetail struct{ Current, Total int64 }
}

// createImage makes the request of a pull and of an import here and not by the library,
// which shows either the progress or the error, and dials by itself.
func (c *Client) createImage(api *docker.Client, query url.Values, header http.Header, body io.Reader, heard func(dockertools.PullProgress)) error {
	stream, err := c.open(api, http.MethodPost, "images/create", query, header, body)
	if err != nil {
		return err
	}
	defer stream.Close()
	return readPull(stream, heard)
}

// readPull reads the messages to their end. heard is called after each.
func readPull(stream io.Reader, heard func(dockertools.PullProgress)) error {
	layers := pullLayers{}
	for decoder := json.NewDecoder(stream); ; {
		var m pullMessage
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if m.Error != "" {
			return &refusal{text: m.Error}
		}
		layers.hear(m)
		heard(layers.progress())
	}
}

// pullLayers is how far each layer has come, by its id.
type pullLayers map[string]*pullLayer

type pullLayer struct {
	done         bool
	bytes, total int64
}

func (l pullLayers) hear(m pullMessage) {
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
	case "Download complete", "Extracting": // a busy Docker leaves out any but the last
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
