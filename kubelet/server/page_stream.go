package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"kubelet14/api"
)

const (
	lookEvery  = 500 * time.Millisecond // how often a stream looks whether anything has changed
	speakEvery = 10 * time.Second       // how often it speaks when nothing has
	maxPages   = 32                     // at a time: to look for each of them takes time
)

// pageStream sends server-sent events to one page.
type pageStream struct {
	server *Server
	w      http.ResponseWriter
	out    *http.ResponseController
	after  uint64 // the last event of the kubelet that the page has

	seen   []byte    // what there was to see when the page was last told of a change
	looked time.Time // when that was last compared
	told   time.Time // when the page was last told
}

// servePageStream tells of each event of the kubelet, from ?after=N on or from where the
// page was when its connection broke, and that something has changed: once at the
// beginning, soon after each change, and every ten seconds, so that a page knows that the
// stream is alive. It goes on until the page goes or the server ends.
func (s *Server) servePageStream(w http.ResponseWriter, r *http.Request) error {
	after, err := eventNumber(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")))
	if err != nil {
		return err
	}
	defer s.pages.Add(-1)
	if s.pages.Add(1) > maxPages {
		return refuse(http.StatusServiceUnavailable, "%d pages are open already: close one", maxPages)
	}
	if err := lift(w); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return nil
	}
	ps := &pageStream{server: s, w: w, out: http.NewResponseController(w), after: after}
	_ = ps.run(r.Context()) // the answer has begun, and what goes wrong is that the page goes
	return nil
}

func (ps *pageStream) run(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		newer, more := ps.server.opts.Kubelet.Events(ps.after)
		frames := ps.frames(newer)
		if ps.hasNews(ctx) {
			// A page that came from another kubelet, before a restart, sees it by the word.
			fmt.Fprintf(frames, "event: pods\ndata: %s\n\n", ps.server.begun)
		}
		if err := ps.send(frames.Bytes()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		case <-look.C:
		}
	}
}

// frames are the server-sent events that tell of the kubelet's events. JSON has no line
// breaks of its own, so nothing that a container has said can pass for a frame.
func (ps *pageStream) frames(events []api.Event) *bytes.Buffer {
	frames := &bytes.Buffer{}
	for _, e := range events {
		data, _ := json.Marshal(e) // it has a JSON form
		fmt.Fprintf(frames, "id: %d\nevent: event\ndata: %s\n\n", e.Seq, data)
		ps.after = e.Seq
	}
	return frames
}

// hasNews says that it is time to tell the page of a change. Not all of them are events:
// a container ends by itself, a pull goes on, a source is read.
func (ps *pageStream) hasNews(ctx context.Context) bool {
	now := time.Now()
	if !ps.looked.IsZero() && now.Sub(ps.looked) < lookEvery {
		return false
	}
	ps.looked = now
	seen := ps.server.fingerprint(ctx)
	if bytes.Equal(seen, ps.seen) && now.Sub(ps.told) < speakEvery {
		return false
	}
	ps.seen, ps.told = seen, now
	return true
}

// fingerprint is another one whenever the page would show something else, ages aside.
func (s *Server) fingerprint(ctx context.Context) []byte {
	var problems [2]string
	if err := s.opts.Kubelet.Health(); err != nil {
		problems[0] = err.Error()
	}
	statuses, err := s.statuses(ctx, lookPatience)
	if err != nil {
		problems[1] = err.Error()
	}
	data, _ := json.Marshal([]any{problems, statuses, s.sources(), s.opts.Kubelet.Load()}) // all of them have a JSON form
	return data
}

// send gives the page as much time for each piece as for a whole answer elsewhere, so
// that one that has stopped reading does not stay for ever.
func (ps *pageStream) send(frames []byte) error {
	if len(frames) == 0 {
		return nil
	}
	err := ps.out.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := ps.w.Write(frames); err != nil {
		return err
	}
	return ps.out.Flush()
}
