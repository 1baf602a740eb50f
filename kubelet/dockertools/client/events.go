package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// WatchEvents starts no goroutine: hint is called by the caller's own. The
// request is made here and not by the library, whose event monitor does not say
// when the stream stands, drops events, and leaves a goroutine and a connection
// behind each time it is stopped.
func (c *Client) WatchEvents(ctx context.Context, labels map[string]string, hint func(dockertools.Event)) error {
	// Once it stands the stream may be silent for days; until then it may not.
	watch, silent, end := unlessSilent(ctx, callLimit, c.noAnswer(callLimit))
	defer end()

	err := c.exchange(watch, "watch events", func(ctx context.Context, api *docker.Client) error {
		stream, err := c.open(api, http.MethodGet, "events", eventsQuery(labels, time.Now()), nil, nil)
		if err != nil {
			return err
		}
		defer stream.Close()
		silent.Stop()
		hint(dockertools.Event{})
		for decoder := json.NewDecoder(stream); ; {
			var event docker.APIEvents
			if err := decoder.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errors.New("the daemon has ended the stream")
			} else if err != nil {
				return err
			}
			hint(dockertools.Event{ID: event.Actor.ID, Name: event.Actor.Attributes["name"], OutOfMemory: event.Action == "oom"})
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// eventsQuery asks for what changes a container's state, and not for the three
// events of every exec. Docker answers a moment before it subscribes us; since
// makes it send what happened in between.
func eventsQuery(labels map[string]string, since time.Time) url.Values {
	// Strings and lists of them always marshal.
	filters, _ := json.Marshal(map[string][]string{
		"type": {"container"}, "event": {"start", "oom", "die", "destroy"}, "label": labelFilter(labels),
	})
	return url.Values{
		"filters": {string(filters)},
		"since":   {unixTime(since)},
	}
}
