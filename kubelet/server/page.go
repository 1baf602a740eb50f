package server

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// The page is rendered here from templates. Its script only replaces parts of it with newer ones.
var (
	//go:embed page
	pageFiles embed.FS

	pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
		"join": Join, "tone": tone, "containerTone": containerTone, "exit": ExitText, "count": api.Count, "isUpdate": isUpdate,
		"port": PortText, "base": path.Base, "short": shortID, "name": func(full string) string { name, _, _ := api.SplitFullName(full); return name },
		"doing": func(op string) string {
			return map[string]string{"create": "Creating", "start": "Starting", "stop": "Stopping", "remove": "Removing"}[op]
		},
		"style": pageStyle, "script": pageScript,
		"where": where, "problem": func(c api.ContainerStatus, reason string) string { // which is shown before it
			_, _, problem := Describe(c)
			return strings.TrimPrefix(strings.TrimPrefix(problem, reason), ": ")
		},
	}).ParseFS(pageFiles, "page/*.html"))
)

// where links to the code of a stage and to its chapter, in the source of this build.
func where(file, function, chapter string) template.HTML {
	return template.HTML(fmt.Sprintf(`<p class="where"><a href="/source/%[1]s#:~:text=%%20%[2]s("><code>%[1]s</code></a> %[2]s <cite><a href="/source/%[3]s">%[3]s</a></cite></p>`,
		file, function, chapter))
}

const pageEvents = 100 // how many the page shows

// page is what the templates show.
type page struct {
	Options
	Saved       bool   // for a saved replay
	Key         string // of links; empty for a client that may not read logs, whose page does not change
	Expired     bool   // with another key: it is of an earlier start of the kubelet
	LinkCommand string // prints the link
	Now         time.Time
	Ill, Docker error // what is wrong with the kubelet, and with Docker
	SourceList  []api.SourceStatus
	Load        api.Load
	Desired     int
	Pods        []api.PodStatus        // by full name
	Rows        map[string][]trace.Row // of Pods
	States      map[string]int         // how many containers there are, of those that were not replaced
	Events      []api.Event            // newest first
	Waiting     []step.Waiting         // plans, with -step
	Breaks      []step.Break           // with -step and debugging handlers
	Changes     []trace.Change         // newest first
	Updates     map[string]api.Event   // the last SET or UPDATE of each pod by full name; of all pods by ""

	newer     <-chan struct{} // of Statuses
	lastEvent uint64
	push      []byte        // to streams
	took      time.Duration // to make it
}

// look collects what the page shows this client.
func (s *Server) look(k Kubelet) *page {
	p := &page{
		Options: s.opts, Now: time.Now(), Ill: k.Health(), SourceList: s.opts.Sources(),
		Load: k.Load(), Desired: len(k.Pods()), Events: k.Events(0), Updates: map[string]api.Event{}, States: map[string]int{},
	}
	if k == s.opts.Kubelet {
		p.Key, p.Changes, p.Waiting = s.key, s.opts.Trace.Changes(), s.opts.Step.Waiting()
	}
	p.Pods, p.newer, p.Docker = k.Statuses()
	if p.Key != "" && s.opts.Step != nil && s.opts.Debugging {
		p.Breaks = s.opts.Step.Breaks(p.Pods, p.manifests())
	}
	p.Rows = k.Comparisons()
	for _, rows := range p.Rows {
		for _, row := range rows {
			for _, a := range row.Observed {
				p.States[a.State]++
			}
		}
	}
	for _, e := range p.Events {
		p.lastEvent = e.Seq
		if isUpdate(e) {
			p.Updates[e.Pod], p.Updates[""] = e, e
		}
	}
	slices.Reverse(p.Events)
	p.Events = p.Events[:min(len(p.Events), pageEvents)]
	return p
}

// isUpdate reports whether an event is that of a manifest.
func isUpdate(e api.Event) bool {
	return e.Reason == api.SET.String() || e.Reason == api.UPDATE.String()
}

// Age is the time since a moment, and Until the time to it. The script keeps counting.
func (p *page) Age(at time.Time) template.HTML   { return p.timeTag(at, "age", p.Now.Sub(at)) }
func (p *page) Until(at time.Time) template.HTML { return p.timeTag(at, "until", at.Sub(p.Now)) }

func (p *page) timeTag(at time.Time, kind string, d time.Duration) template.HTML {
	if at.IsZero() {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" data-%s>%s</time>`, at.Format("2006-01-02T15:04:05.000Z07:00"), kind, ageText(d)))
}

// ageText is a duration in one unit. The script has the same rule.
func ageText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// writeHTML answers with a template.
func writeHTML(w http.ResponseWriter, name string, data any) error {
	text, err := render(name, data)
	if err == nil {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err = w.Write(text)
	}
	return err
}

func render(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	err := pageTemplates.ExecuteTemplate(&out, name, data)
	return out.Bytes(), err
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	p := s.look(s.kubeletFor(r))
	p.Expired, p.LinkCommand = r.URL.Query().Has("key"), "kubelet14 -status -token_file="+s.opts.TokenFile+" -address="+s.opts.Address
	if address, ok := s.listener.Addr().(*net.TCPAddr); ok {
		p.LinkCommand += fmt.Sprint(" -port=", address.Port)
	}
	return writeHTML(w, "page.html", p)
}

// change is a change as the template tells it, of one pod or of all.
type change struct {
	*trace.Change
	Page *page
	Pod  string
}

func (s *Server) serveChange(w http.ResponseWriter, r *http.Request) error {
	p := s.look(s.opts.Kubelet)
	for i := range p.Changes {
		if strconv.FormatUint(p.Changes[i].Number, 10) == r.PathValue("number") {
			c := change{&p.Changes[i], p, r.URL.Query().Get("pod")}
			if pods := c.Pods(); len(pods) == 1 {
				c.Pod = pods[0]
			}
			if r.URL.Query().Get("save") != "" {
				return writeReplay(w, c)
			}
			return writeHTML(w, "change.html", c)
		}
	}
	return httpErrorf(http.StatusNotFound, "there is no such change any more")
}

// serveStep allows a waiting plan (flag -step), or its first step. The ticket proves that the client has seen that plan.
func (s *Server) serveStep(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Step == nil {
		return httpErrorf(http.StatusNotFound, "no plan ever waits: the kubelet was started without -step")
	}
	var body struct{ ID, Pod, Steps string }
	err := json.NewDecoder(r.Body).Decode(&body)
	steps, known := map[string]int{"all": math.MaxInt, "first": 1}[body.Steps]
	if err != nil || !known {
		return httpErrorf(http.StatusBadRequest, `the body must be {"id": …, "pod": …, "steps": "all" or "first"}`)
	}
	if !s.opts.Step.Allow(step.Waiting{Pod: body.Pod, Ticket: body.ID}, steps) {
		return httpErrorf(http.StatusConflict, "this plan waits no more: look at the pod again")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) serveSource(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeFileFS(w, r, s.opts.Source, r.PathValue("file"))
	return nil
}

func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) error {
	http.ServeFileFS(w, r, pageFiles, "page/"+r.PathValue("file"))
	return nil
}
