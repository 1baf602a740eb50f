package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/moby/moby/api/pkg/stdcopy"

	"kubelet14/kubelet/dockertools"
)

// Logs makes its own request, because the library takes Since in whole seconds, and does not limit the time until the
// answer begins.
func (c *Client) Logs(ctx context.Context, id string, opts dockertools.LogOptions, each func(dockertools.LogLine) error) error {
	r := c.begin(ctx, "read the log of container %q", id)
	r.silent = opts.Follow
	var eachErr error
	pass := logWriter(func(line dockertools.LogLine) error {
		eachErr = each(line)
		return eachErr
	})
	query := url.Values{
		"stdout": {strconv.FormatBool(opts.Stdout)}, "stderr": {strconv.FormatBool(opts.Stderr)}, "follow": {strconv.FormatBool(opts.Follow)},
		"tail": {strconv.Itoa(opts.Tail)}, "timestamps": {"true"},
	}
	if !opts.Since.IsZero() {
		query.Set("since", unixTime(opts.Since))
	}
	body, err := r.open(http.MethodGet, "containers/"+id+"/logs", query, nil, nil)
	if err == nil {
		err = copyLog(pass, body)
	}
	return cmp.Or(eachErr, r.end(err))
}

// copyLog writes each frame of a log to pass. With a terminal there are no frames, but the text itself: then it begins with the
// year of the first line.
func copyLog(pass logWriter, log io.Reader) error {
	text := bufio.NewReaderSize(log, maxFrame)
	if first, err := text.Peek(1); err != nil || first[0] < '0' {
		_, err = stdcopy.StdCopy(pass, pass, text)
		return err
	}
	for {
		line, err := text.ReadSlice('\n')
		if len(line) > 0 {
			if _, err := pass.Write(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// maxFrame is more than Docker's buffer and the time before it.
const maxFrame = 32 << 10

// logWriter passes on the frames of both streams, which StdCopy writes one at a time. Each frame begins with its time.
type logWriter func(dockertools.LogLine) error

func (each logWriter) Write(frame []byte) (int, error) {
	stamp, text, _ := bytes.Cut(frame, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		text = frame
	}
	return len(frame), each(dockertools.LogLine{Time: at, Text: bytes.Clone(text)})
}

func (c *Client) WatchEvents(ctx context.Context, labels map[string]string, hint func(dockertools.Event)) error {
	// Each exec has three events of its own, which are ignored.
	return c.watch(ctx, map[string][]string{
		"type": {"container"}, "event": {"start", "update", "kill", "oom", "die", "destroy", "pause", "unpause"}, "label": labelFilter(labels),
	}, func(e docker.APIEvents) {
		if e.Action == "kill" && e.Actor.Attributes["signal"] == "9" { // its death follows
			return
		}
		hint(dockertools.Event{ID: e.Actor.ID, OutOfMemory: e.Action == "oom", Signalled: e.Action == "kill"})
	})
}

func (c *Client) WatchPulls(ctx context.Context, pulled func(image string)) error {
	return c.watch(ctx, map[string][]string{"type": {"image"}, "event": {"pull"}}, func(e docker.APIEvents) { pulled(e.Actor.ID) })
}

// watch makes its own request, because the library's monitor does not report when the stream begins, drops events, and
// leaks a goroutine and a connection. The first event is empty.
func (c *Client) watch(ctx context.Context, of map[string][]string, each func(docker.APIEvents)) error {
	// Docker answers a moment before it subscribes the stream; since makes it send the events in between.
	filters, _ := json.Marshal(of) // strings always marshal
	query := url.Values{"filters": {string(filters)}, "since": {unixTime(time.Now())}}
	r := c.begin(ctx, "watch events")
	r.silent = true // possibly for days
	err := r.end(r.readEvents(query, each))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *call) readEvents(query url.Values, each func(docker.APIEvents)) error {
	body, err := r.open(http.MethodGet, "events", query, nil, nil)
	if err != nil {
		return err
	}
	each(docker.APIEvents{})
	for decoder := json.NewDecoder(body); ; {
		var event docker.APIEvents
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the daemon ended the stream")
		} else if err != nil {
			return err
		}
		each(event)
	}
}

// unixTime formats a time for a query to Docker.
func unixTime(t time.Time) string { return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond()) }
