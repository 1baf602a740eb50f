package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"kubelet14/kubelet/trace"
)

const (
	pageTick  = 500 * time.Millisecond // the least time between two pushes to a page
	pageAlive = 10 * time.Second       // the most time between two pushes
	pageRest  = 2 * time.Second        // the most time between two pushes that a rendering causes: 50 times as long as that took
)

// servePageStream sends server-sent events with the part of the page that changes: one at once, one soon after each change, and
// one every ten seconds, so that the page notices a lost connection. A page that does not read for writeTimeout is dropped.
func (s *Server) servePageStream(w http.ResponseWriter, r *http.Request) error {
	control := clearDeadlines(w)
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return nil
	}
	for last := (*page)(nil); ; {
		p, err := s.livePage()
		if err != nil {
			return err
		}
		if p != last {
			last = p
			_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.Write(p.push); err != nil || control.Flush() != nil {
				return nil // the page is gone
			}
		}
		select {
		case <-time.After(time.Until(time.Now().Truncate(pageTick).Add(pageTick))): // all streams at the same time
		case <-r.Context().Done():
			return nil
		}
	}
}

// livePage returns the newest page. It is rendered once for all streams.
func (s *Server) livePage() (*page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.live; p != nil && (time.Since(p.Now) < max(pageTick/2, min(50*p.took, pageRest)) || !s.isOld(p)) {
		return p, nil
	}
	p := s.look(s.opts.Kubelet)
	html, err := render("live.html", p)
	data, jsonErr := json.Marshal(string(html))
	p.push = fmt.Appendf(nil, "data: %s\n\n", data)
	p.took = time.Since(p.Now)
	s.live = p
	return p, errors.Join(err, jsonErr)
}

// isOld reports whether a page must be rendered anew: something has changed, or it is old.
func (s *Server) isOld(p *page) bool {
	select {
	case <-p.newer:
		return true
	default:
	}
	k := s.opts.Kubelet
	newest := func(changes []trace.Change) uint64 { return append(changes, trace.Change{})[0].Number }
	return p.newer == nil || newest(p.Changes) != newest(s.opts.Trace.Changes()) || k.Load().Pulls > 0 || (k.Health() == nil) != (p.Ill == nil) || len(k.Events(p.lastEvent)) > 0 ||
		!reflect.DeepEqual(p.SourceList, s.opts.Sources()) || time.Since(p.Now) >= pageAlive
}
