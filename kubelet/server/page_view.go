package server

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"kubelet14/api"
)

const (
	pageEvents     = 200             // how many the page shows
	statusPatience = 5 * time.Second // how long the page waits to know of the pods
)

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

// Until is for a moment to come, which may have passed meanwhile.
func (t pageTime) Until() bool { return !t.At.IsZero() }

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
	for _, source := range s.opts.Sources() {
		v.Sources = append(v.Sources, viewSource(source, now))
	}
	ops := v.addEvents(s.opts.Kubelet)
	statuses, err := s.statusesSoon(ctx)
	if err != nil {
		v.Unknown = err.Error()
	}
	named := map[string]int{}
	for i := range statuses {
		named[statuses[i].Namespace+"/"+statuses[i].Name]++
	}
	for i := range statuses {
		p := &statuses[i]
		pod := viewPod(p, now)
		pod.Op = ops[pod.FullName]
		if s.opts.Debugging {
			// The plain name is good for a link as long as no other source has the same.
			name := p.Name
			if named[p.Namespace+"/"+p.Name] > 1 {
				name = pod.FullName
			}
			pod.addLogs(name)
		}
		v.count(&pod)
		v.Pods = append(v.Pods, pod)
	}
	return v
}

// statusesSoon are the statuses, or an error when a Docker that hangs keeps them back.
func (s *Server) statusesSoon(ctx context.Context) ([]api.PodStatus, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, statusPatience, fmt.Errorf("no answer from Docker within %v", statusPatience))
	defer cancel()
	statuses, err := s.opts.Kubelet.Statuses(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return statuses, err
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

// logAddress is where the end of a container's log is.
func logAddress(namespace, pod, container string) string {
	path := []string{"/containerLogs", url.PathEscape(namespace), url.PathEscape(pod), url.PathEscape(container)}
	return strings.Join(path, "/") + "?tail=200"
}

// sentence is a text with its reason before it.
func sentence(reason, message string) string {
	if reason == "" || message == "" {
		return cmp.Or(reason, message)
	}
	return reason + ": " + message
}
