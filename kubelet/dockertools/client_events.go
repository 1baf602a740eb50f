package dockertools

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

	docker "github.com/fsouza/go-dockerclient"
)

// WatchEvents implements Interface. It starts no goroutine: hint is called by the
// caller's own.
//
// The request is made here and not by the library, whose event monitor does not
// say when the stream stands, drops events, and leaves a goroutine and a
// connection behind each time it is stopped.
func (c *Client) WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Once it stands the stream may be silent for days; until then it may not.
	silent := time.AfterFunc(callLimit, func() {
		cancel(fmt.Errorf("no answer within %v", callLimit))
	})
	defer silent.Stop()

	said := exchange{ctx: ctx, network: c.api.HTTPClient.Transport}
	err := c.streamEvents(ctx, labels, &said, func(event Event) {
		silent.Stop()
		hint(event)
	})
	if errors.Is(context.Cause(ctx), context.Canceled) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("watch events: %w", c.explain(ctx, &said, err))
}

func (c *Client) streamEvents(ctx context.Context, labels map[string]string, said *exchange, hint func(Event)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.eventsURL(labels, time.Now()), nil)
	if err != nil {
		return err
	}
	resp, err := said.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP status %s", resp.Status)
	}
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
	scheme, host, found := strings.Cut(c.endpoint, "://")
	switch {
	case !found:
		host = c.endpoint
	case scheme == "unix":
		host = "unix.sock" // the transport dials the socket, whatever the name
	}
	scheme = "http"
	if c.api.TLSConfig != nil {
		scheme = "https"
	}
	return scheme + "://" + strings.TrimSuffix(host, "/") + "/events?" + query.Encode()
}
