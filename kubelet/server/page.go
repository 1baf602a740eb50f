package server

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"kubelet14/api"
)

// The page is one template that fills in what there is to see; a browser needs nothing
// else. Its script only keeps it fresh.
var (
	//go:embed page/page.html page/live.html
	pageSources embed.FS
	//go:embed page/page.css page/page.js page/favicon.svg
	pageFiles embed.FS

	pageTemplates = template.Must(template.ParseFS(pageSources, "page/*.html"))
)

// serveRoot lets in who follows the link with the token, and shows the page to who may
// look.
func (s *Server) serveRoot(w http.ResponseWriter, r *http.Request) error {
	if given := r.URL.Query().Get("token"); given != "" {
		return s.logIn(w, r, given)
	}
	s.allow(reading, s.servePage)(w, r)
	return nil
}

// servePage answers with the page, and with ?part=live with the part of it that changes:
// the script puts it in the place of what is there.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	name := "page.html"
	switch part := r.URL.Query().Get("part"); part {
	case "":
	case "live":
		name = "live.html"
	default:
		return refuse(http.StatusBadRequest, "part=%q: it must be live, or left out", part)
	}
	var page bytes.Buffer // so that an error is not half a page
	if err := pageTemplates.ExecuteTemplate(&page, name, s.lookAtAll(r.Context())); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(page.Bytes())
	return err
}

func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) error {
	http.ServeFileFS(w, r, pageFiles, "page/"+r.PathValue("file"))
	return nil
}

const pageEvents = 200 // how many the page shows

// pageView is all that the page shows.
type pageView struct {
	Host, Version string
	Begun         string // tells the page that another kubelet has taken this one's place
	Now           time.Time
	Ill           string // why the kubelet cannot look after its pods; empty: it can
	Unknown       string // why nothing can be said of the pods
	Sources       []sourceView
	LastOp        pageEvent // the newest SET or UPDATE that changed a pod
	Load          api.Load
	Wanted        int
	Pods          []podView
	Containers    stateCount
	Events        []pageEvent // the newest first
	Newest        uint64      // the Seq of the newest
	MaxEvents     int
}

type stateCount struct{ Running, Waiting, Ended int }

// pageTime is a moment, and how long it is from the moment the page was made.
type pageTime struct {
	At  time.Time
	Age string
}

// NoEvent is what the script fills in when there is an event.
func (pageView) NoEvent() pageEvent { return pageEvent{} }

type sourceView struct {
	api.SourceStatus
	State        string // a word for people
	Tone         string // of the colour; the word says the same
	Read, Failed pageTime
}

type pageEvent struct {
	api.Event
	When pageTime
	Op   bool // it is an update that reached the pod
}

// lookAtAll sees what there is to see now. What cannot be seen is said, and never an
// error: the page is there for the time when things go wrong.
func (s *Server) lookAtAll(ctx context.Context) pageView {
	now := time.Now()
	v := pageView{Version: s.opts.Version, Begun: s.begun, Now: now, Load: s.opts.Kubelet.Load(), Wanted: len(s.opts.Kubelet.Pods()), MaxEvents: pageEvents}
	if len(s.opts.Hostnames) > 0 {
		v.Host = s.opts.Hostnames[0]
	}
	if err := s.opts.Kubelet.Health(); err != nil {
		v.Ill = err.Error()
	}
	for _, source := range s.sources() {
		v.Sources = append(v.Sources, viewSource(source, now))
	}
	ops := v.addEvents(s.opts.Kubelet)
	statuses, err := s.statuses(ctx, lookPatience)
	if err != nil {
		v.Unknown = err.Error()
	}
	for i := range statuses {
		pod := viewPod(&statuses[i], now, s.opts.Debugging)
		pod.Op = ops[pod.FullName]
		v.count(&pod)
		v.Pods = append(v.Pods, pod)
	}
	return v
}

// addEvents fills in the newest events. It returns those of the last SET or UPDATE of
// each pod.
func (v *pageView) addEvents(k Kubelet) (ops map[string]pageEvent) {
	all, _ := k.Events(0)
	ops = map[string]pageEvent{}
	for i := len(all) - 1; i >= 0; i-- {
		e := pageEvent{Event: all[i], When: ago(all[i].Time, v.Now)}
		e.Op = e.Reason == api.SET.String() || e.Reason == api.UPDATE.String()
		v.Newest = max(v.Newest, e.Seq)
		if len(v.Events) < pageEvents {
			v.Events = append(v.Events, e)
		}
		if !e.Op {
			continue
		}
		if v.LastOp.Seq == 0 {
			v.LastOp = e
		}
		if _, known := ops[e.Pod]; !known {
			ops[e.Pod] = e
		}
	}
	return ops
}

func (v *pageView) count(p *podView) {
	for i := range p.Containers {
		switch p.Containers[i].State {
		case "running":
			v.Containers.Running++
		case "waiting":
			v.Containers.Waiting++
		case "ended":
			v.Containers.Ended++
		}
	}
}

func viewSource(source api.SourceStatus, now time.Time) sourceView {
	v := sourceView{SourceStatus: source, State: "read", Tone: "good", Read: ago(source.LastSuccess, now), Failed: ago(source.FailingSince, now)}
	switch {
	case !source.FailingSince.IsZero():
		v.State, v.Tone = "failing", "bad"
	case source.LastSuccess.IsZero():
		v.State, v.Tone = "not read yet", "busy"
	}
	return v
}

// ago is a moment as the page shows it. The script counts on in the same words.
func ago(at, now time.Time) pageTime {
	if at.IsZero() {
		return pageTime{}
	}
	return pageTime{At: at, Age: ageText(now.Sub(at).Abs())}
}

// ageText says a time in one unit: the page is for people, and JSON for programs.
func ageText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// sentence is a text with its reason before it.
func sentence(reason, message string) string {
	if reason == "" || message == "" {
		return cmp.Or(reason, message)
	}
	return reason + ": " + message
}
