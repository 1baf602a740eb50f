package client

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

	"kubelet14/kubelet/dockertools"
)

// WatchEvents makes its own request: the library's monitor does not report when the
// stream begins, drops events, and leaks a goroutine and a connection.
func (c *Client) WatchEvents(ctx context.Context, labels map[string]string, hint func(dockertools.Event)) error {
	// Docker answers a moment before it subscribes the stream; since makes it send
	// what happened in between. Each exec has three events of its own, which are left out.
	filters, _ := json.Marshal(map[string][]string{ // strings always marshal
		"type": {"container"}, "event": {"start", "oom", "die", "destroy"}, "label": labelFilter(labels),
	})
	query := url.Values{"filters": {string(filters)}, "since": {unixTime(time.Now())}}
	r := c.begin(ctx, callLimit, "watch events")
	r.silent = true // for days
	err := r.end(r.watch(query, hint))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *call) watch(query url.Values, hint func(dockertools.Event)) error {
	body, err := r.open(http.MethodGet, "events", query, nil, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	hint(dockertools.Event{})
	for decoder := json.NewDecoder(body); ; {
		var event docker.APIEvents
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the daemon has ended the stream")
		} else if err != nil {
			return err
		}
		hint(dockertools.Event{ID: event.Actor.ID, Name: event.Actor.Attributes["name"], OutOfMemory: event.Action == "oom"})
	}
}

// unixTime formats a time for a query of Docker.
func unixTime(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }
