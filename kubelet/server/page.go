package server

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
)

// The page is rendered here, by templates. Its script only replaces the parts that change by newer ones.
var (
	//go:embed page
	pageFiles embed.FS

	pageTemplates = template.Must(template.New("").Funcs(template.FuncMap{
		"join": join, "tone": tone, "isNotReady": isNotReady, "containerTone": containerTone, "exit": exitText, "count": api.Count, "isUpdate": isUpdate,
		"port": portText, "base": path.Base, "comparison": comparison, "short": shortID, "atMost": func(n int, pods []api.PodStatus) []api.PodStatus { return pods[:min(n, len(pods))] },
		"problem": func(c api.ContainerStatus, reason string) string { // which is shown before it
			_, _, problem := describe(c)
			return strings.TrimPrefix(strings.TrimPrefix(problem, reason), ": ")
		},
	}).ParseFS(pageFiles, "page/*.html"))
)

const (
	pageEvents = 200 // how many the page shows
	pageCards  = 6   // with more pods they are rows that can be opened
)

// page is what the templates show.
type page struct {
	Options
	Key         string // of links; empty for a client that may not read logs, whose page does not change
	Now         time.Time
	Ill, Docker error // what is wrong with the kubelet, and with Docker
	SourceList  []api.SourceStatus
	Load        api.Load
	Desired     int
	Pods        []api.PodStatus        // by full name
	Rows        map[string][]trace.Row // of Pods
	States      map[string]int
	Events      []api.Event          // newest first
	Waiting     []step.Waiting       // plans, with -step
	Changes     []trace.Change       // newest first
	Updates     map[string]api.Event // the last SET or UPDATE of each pod by full name; of all pods by ""

	newer     <-chan struct{} // of Statuses
	lastEvent uint64
	push      []byte // to streams
}

// byTrouble compares pods: those that need somebody come first.
func byTrouble(a, b api.PodStatus) int {
	rank := map[string]int{"bad": 0, "busy": 1, "good": 2, "done": 3}
	return cmp.Compare(rank[tone(a)], rank[tone(b)])
}

// look collects what the page shows to a client.
func (s *Server) look(k Kubelet) *page {
	p := &page{
		Options: s.opts, Now: time.Now(), Ill: k.Health(), SourceList: s.opts.Sources(),
		Load: k.Load(), Desired: len(k.Pods()), Events: k.Events(0), Updates: map[string]api.Event{},
	}
	if k == s.opts.Kubelet {
		p.Key, p.Changes, p.Waiting = s.key, s.opts.Trace.Changes(), s.opts.Step.Waiting()
	}
	p.Pods, p.newer, p.Docker = k.Statuses()
	p.Rows = k.Comparisons()
	p.States = countStates(p.Pods)
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

func (p *page) render(name string) ([]byte, error) {
	var out bytes.Buffer
	err := pageTemplates.ExecuteTemplate(&out, name, p)
	return out.Bytes(), err
}

// Banner is the head of the page: its class, and whether all is well.
func (p *page) Banner() (banner struct{ Tone, Text string }) {
	up, _ := CountUp(p.Pods)
	problems := describeProblems(p.SourceList)
	banner.Tone, banner.Text = "good", fmt.Sprintf("%d of %s are up", up, api.Count(len(p.Pods), "pod"))
	switch {
	case p.Ill != nil:
		banner.Tone, banner.Text = "bad", "The kubelet cannot manage its pods: "+p.Ill.Error()
	case p.Docker != nil:
		banner.Tone, banner.Text = "busy", "The state of the pods is not known: "+api.OneLine(p.Docker.Error())
	case up < len(p.Pods):
		banner.Tone = tone(slices.MinFunc(p.Pods, byTrouble))
	case slices.ContainsFunc(p.Pods, isNotReady):
		banner.Tone = "busy"
		banner.Text += ", but not all are ready yet"
	case len(problems) > 0:
		banner.Tone = "busy"
	case len(p.Pods) == 0:
		banner.Text = "There are no pods"
	case len(p.Pods) == 1:
		banner.Text = "The pod is up"
	}
	banner.Text = strings.Join(append([]string{banner.Text}, problems...), "; ")
	return banner
}

// Many reports whether pods are shown as rows.
func (p *page) Many() bool { return len(p.Pods) > pageCards }

// Trouble returns the pods that somebody has to look at, the worst first.
func (p *page) Trouble() []api.PodStatus {
	pods := slices.DeleteFunc(slices.Clone(p.Pods), func(pod api.PodStatus) bool { return pod.Up() && !isNotReady(pod) && pod.SourceError == "" })
	slices.SortStableFunc(pods, byTrouble)
	return pods
}

// Culprit returns the container that keeps a pod from being up, with a log if there is such a one.
func (p *page) Culprit(pod api.PodStatus) (culprit api.ContainerStatus) {
	for _, c := range pod.Containers {
		_, _, problem := describe(c)
		better := culprit.Name == "" || p.LogLink(pod, culprit) == "" && p.LogLink(pod, c) != ""
		if problem != "" && containerTone(c) != "done" && better {
			culprit = c
		}
	}
	return culprit
}

// view is a comparison as the templates show it; ID is empty in a replay, and so is what the status tells.
type view struct {
	Page    *page
	ID, Pod string
	Rows    []viewRow
}

type viewRow struct {
	trace.Row
	Status  *api.ContainerStatus
	Log     string
	Problem string // unless the pod has the same
}

// View returns the containers of a pod.
func (p *page) View(pod api.PodStatus) view {
	v := view{Page: p, ID: pod.FullName(), Pod: pod.Name}
	for _, c := range pod.Containers {
		row := viewRow{Row: trace.Row{Container: c.Name}, Status: &c, Log: p.LogLink(pod, c)}
		if i := slices.IndexFunc(p.Rows[v.ID], func(r trace.Row) bool { return r.Container == c.Name }); i >= 0 {
			row.Row = p.Rows[v.ID][i]
		}
		if _, _, problem := describe(c); problem != join(pod.Reason, pod.Message) {
			row.Problem = problem
		}
		if c.Name == api.NetworkContainerName && len(row.Plan) == 0 && row.Problem == "" {
			continue // it is of interest to nobody
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// group is an event that has happened several times.
type group struct {
	api.Event // the newest
	Times     int
}

// Groups returns the events, newest first, those of one kind and container as one, as long as the manifest was not edited between them.
func (p *page) Groups() (groups []*group) {
	known := map[[3]string]*group{}
	for _, e := range p.Events {
		key := [3]string{e.Pod, e.Container, e.Reason}
		switch {
		case isUpdate(e):
			maps.DeleteFunc(known, func(key [3]string, _ *group) bool { return key[0] == e.Pod })
			groups = append(groups, &group{e, 1})
		case known[key] != nil:
			known[key].Times++
		default:
			known[key] = &group{e, 1}
			groups = append(groups, known[key])
		}
	}
	return groups
}

// Age is the time since a moment, and Until the time to it. The script counts on.
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

// LogLink is the address of a container's log, or empty when there is none to read.
func (p *page) LogLink(pod api.PodStatus, c api.ContainerStatus) string {
	neverRan := c.State.Waiting != nil && c.RestartCount == 0 && c.Last == nil
	if !p.Debugging || neverRan || c.Name == "" || c.Name == api.NetworkContainerName {
		return ""
	}
	return "/containerLogs/" + url.PathEscape(pod.Namespace) + "/" + url.PathEscape(pod.FullName()) + "/" + url.PathEscape(c.Name) + "?tail=200&key=" + p.Key
}

// isNotReady reports whether a pod is up, and a probe does not call it ready.
func isNotReady(p api.PodStatus) bool { return p.Phase == api.PodRunning && !p.Ready }

// tone is the class of a pod: good, busy, bad or done. An error of its source does not count: one bad file would turn all good
// pods red.
func tone(p api.PodStatus) string {
	if isNotReady(p) {
		return "busy"
	}
	return map[api.PodPhase]string{
		api.PodPending: "busy", api.PodRunning: "good", api.PodFailing: "bad", api.PodSucceeded: "done", api.PodFailed: "bad", api.PodRemoving: "busy",
	}[p.Phase]
}

func containerTone(c api.ContainerStatus) string {
	switch s := c.State; {
	case s.Running != nil && s.Running.Message == "":
		return "good"
	case s.Terminated != nil && s.Terminated.ExitCode == 0:
		return "done"
	case s.Terminated != nil:
		return "bad"
	case s.Waiting != nil && !slices.Contains(api.Waits, s.Waiting.Reason):
		return "bad"
	}
	return "busy" // it takes its time
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	text, err := s.look(s.kubeletFor(r)).render("page.html")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write(text)
	return err
}

// change is a change as the template tells it, of one pod or of all.
type change struct {
	trace.Change
	Key, Pod string
	Stages   []trace.Stage
}

// comparison returns what the loop has compared of a pod.
func comparison(pod string, rows []trace.Row) *view {
	v := &view{Page: &page{}, Pod: pod}
	for _, row := range rows {
		if row.Container != api.NetworkContainerName || row.Sign == "≠" {
			v.Rows = append(v.Rows, viewRow{Row: row})
		}
	}
	if v.Rows == nil {
		return nil
	}
	return v
}

func (s *Server) serveChange(w http.ResponseWriter, r *http.Request) error {
	for _, c := range s.opts.Trace.Changes() {
		if strconv.FormatUint(c.Number, 10) == r.PathValue("number") {
			pod := r.URL.Query().Get("pod")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			return pageTemplates.ExecuteTemplate(w, "change.html", &change{Change: c, Key: s.key, Pod: pod, Stages: c.Tell(pod)})
		}
	}
	return httpErrorf(http.StatusNotFound, "there is no such change any more")
}

// serveStep allows a plan that waits (flag -step), or its first step. The client has to know the ticket of that plan: it has seen it.
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

func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) error {
	http.ServeFileFS(w, r, pageFiles, "page/"+r.PathValue("file"))
	return nil
}

const (
	pageTick  = 500 * time.Millisecond // the least time between two pushes to a page
	pageAlive = 10 * time.Second       // the most time between two pushes
)

// servePageStream sends server-sent events to a page: each holds the part of the page that changes. One comes at once, one
// soon after each change, and one every ten seconds, so that the page notices a lost connection. A page that does not read
// for writeTimeout is dropped.
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
	if p := s.live; p != nil && (time.Since(p.Now) < pageTick/2 || !s.isOld(p)) {
		return p, nil
	}
	p := s.look(s.opts.Kubelet)
	html, err := p.render("live.html")
	data, jsonErr := json.Marshal(string(html))
	p.push = fmt.Appendf(nil, "data: %s\n\n", data)
	s.live = p
	return p, errors.Join(err, jsonErr)
}

// isOld reports whether a page is to be replaced by a newer one: something that it shows has changed, or it is old.
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
