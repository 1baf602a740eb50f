package dockertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// WatchEvents starts no goroutine: hint is called by the caller's own. The
// request is made here and not by the library, whose event monitor does not say
// when the stream stands, drops events, and leaves a goroutine and a connection
// behind each time it is stopped.
func (c *Client) WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error {
	watch, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Once it stands the stream may be silent for days; until then it may not.
	silent := time.AfterFunc(callLimit, func() { cancel(c.noAnswer(callLimit)) })
	defer silent.Stop()

	err := c.exchange(watch, "watch events", func(ctx context.Context, api *docker.Client) error {
		resp, err := api.HTTPClient.Get(c.eventsURL(labels, time.Now()))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("HTTP status %s", resp.Status)
		}
		silent.Stop()
		hint(Event{})
		for decoder := json.NewDecoder(resp.Body); ; {
			var event docker.APIEvents
			if err := decoder.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errors.New("the daemon has ended the stream")
			} else if err != nil {
				return err
			}
			hint(Event{ID: event.Actor.ID, Name: event.Actor.Attributes["name"]})
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// eventsURL asks for what changes a container's state, and not for the three
// events of every exec. Docker answers a moment before it subscribes us; since
// makes it send what happened in between.
func (c *Client) eventsURL(labels map[string]string, since time.Time) string {
	// Strings and lists of them always marshal.
	filters, _ := json.Marshal(map[string][]string{
		"type": {"container"}, "event": {"start", "die", "destroy"}, "label": labelFilter(labels),
	})
	query := url.Values{
		"filters": {string(filters)},
		"since":   {fmt.Sprintf("%d.%09d", since.Unix(), since.Nanosecond())},
	}
	return c.url.ResolveReference(&url.URL{Path: "events", RawQuery: query.Encode()}).String()
}
