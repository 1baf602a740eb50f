package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	pagePause = 500 * time.Millisecond // the least time between two pushes to a page
	pageTick  = time.Second            // how often sources and pulls are checked, which do not signal changes
	pageAlive = 10 * time.Second       // the most time between two pushes
	maxPages  = 32
)

// servePageStream sends server-sent events to a page: each holds the part of the page that changes. One comes at once, one
// soon after each change, and one every ten seconds, so that the page notices a lost connection.
func (s *Server) servePageStream(w http.ResponseWriter, r *http.Request) error {
	defer s.openPages.Add(-1)
	if s.openPages.Add(1) > maxPages {
		return httpErrorf(http.StatusServiceUnavailable, "%d pages are open: close one", maxPages)
	}
	if err := clearDeadlines(w); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return nil
	}
	tick := time.NewTicker(pageTick)
	defer tick.Stop()
	for {
		p := s.look()
		if err := p.push(w); err != nil {
			return nil // the page is gone
		}
		select {
		case <-time.After(pagePause):
		case <-r.Context().Done():
			return nil
		}
		for changed := false; !changed; {
			select {
			case <-p.newer:
				changed = true
			case <-p.newerEvents:
				changed = true
			case now := <-tick.C:
				changed = now.Sub(p.Now) >= pageAlive || s.silentChange(p)
			case <-r.Context().Done():
				return nil
			}
		}
	}
}

// push sends the part that changes. A page that does not read for writeTimeout is dropped.
func (p *page) push(w http.ResponseWriter) error {
	html, err := p.render("live.html")
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]string{"instance": p.Instance, "html": string(html)}) // on one line
	if err != nil {
		return err
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return err
	}
	return control.Flush()
}

// silentChange reports whether something has changed that signals no change.
func (s *Server) silentChange(p *page) bool {
	k := s.opts.Kubelet
	return p.newer == nil || k.Load().Pulls > 0 || (k.Health() == nil) != (p.Ill == nil) || !slices.Equal(p.SourceList, s.opts.Sources())
}
