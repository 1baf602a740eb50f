package trace

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// Stage is an event of a change, as it is told: Pods has the pods of a sum, and Rows what the loop knows at that moment, and what a
// worker has done since.
type Stage struct {
	Event
	Ms   float64 // since the first
	Busy string  // the pod whose worker is busy
	Of   string  // the pod of the rows
}

// Title names a change by its cause.
func (c *Change) Title() string {
	for _, e := range c.Events {
		file, pod := path.Base(e.Place), e.Name()
		switch {
		case e.Kind == "read" && e.Error != "":
			return "Source " + e.Source + " has errors"
		case e.Kind == "apply" && len(c.Pods()) > 1:
			return api.Count(len(c.Pods()), "pod") + " changed"
		case e.Kind == "apply":
			return map[string]string{
				"its manifest was found": file + " is new", "its manifest has changed": file + " was edited", "it is no longer wanted": pod + " is no longer wanted",
			}[e.Reason]
		case e.Kind == "plan" && len(c.Pods()) > 1:
			return api.Count(len(c.Pods()), "pod") + " were not as desired"
		}
		for _, row := range e.Rows {
			for _, a := range row.Plan {
				return row.Container + " of " + pod + ": " + a.Reason
			}
		}
	}
	return "Source " + c.Events[0].Source + " was read"
}

// Began and Took say when it was. A change that led to nothing has taken no time.
func (c *Change) Began() time.Time { return c.Events[0].Time }
func (c *Change) Took() time.Duration {
	return c.Events[len(c.Events)-1].Time.Sub(c.Events[0].Time).Round(time.Millisecond)
}

// What is what an action does something to.
func (e Event) What() string {
	if len(e.Pods) > 1 {
		return "containers of " + e.Name()
	}
	return fmt.Sprintf("attempt %d of %s", e.Attempt, e.Container)
}

// Pods returns the pods that a change is about, by full name.
func (c *Change) Pods() (pods []string) {
	for _, e := range c.Events {
		if e.Pod != "" && e.Kind != "event" && !slices.Contains(pods, e.Pod) {
			pods = append(pods, e.Pod)
		}
	}
	slices.Sort(pods)
	return pods
}

// Tell tells a change, as far as it is about one pod; of several pods for "", as a sum.
func (c *Change) Tell(pod string) (stages []Stage) {
	var rows []Row
	var changed []string
	var listed time.Time
	busy, of, events := "", "", c.about(pod)
	if pod == "" && len(c.Pods()) > 1 {
		events = sum(events)
	}
	for _, e := range events {
		switch {
		case len(e.Rows) > 0:
			if of = e.Pod; e.Kind == "apply" {
				changed = e.Changed
			}
			rows = mark(e.Rows, changed)
		case e.Kind == "begin" || e.Kind == "end":
			rows = carryOut(rows, e)
		case e.Kind == "list":
			listed = e.Time
		case e.Kind == "listed": // what was done before the list is seen
			rows = each(rows, func(a *Attempt) { a.Unlisted = a.Unlisted && a.since.After(listed) })
		case e.Kind == "work":
			busy = e.Pod
		case e.Kind == "ended":
			busy = ""
		}
		e.Rows = rows
		stages = append(stages, Stage{Event: e, Ms: ms(e.Time.Sub(c.Events[0].Time)), Busy: busy, Of: of})
	}
	return stages
}

// about returns the events that are about a pod; for "" all but those of pods that rest before the last one does. Of the looks of
// the loop it has those that have found something, and the first that had to skip the pod, after each creation.
func (c *Change) about(pod string) (events []Event) {
	var look []Event
	pods, skipped, resting := c.Pods(), false, 0
	for _, e := range c.Events {
		mine := e.Pod == "" && e.Kind != "event" || pod == "" || e.Pod == pod
		switch e.Kind {
		case "list", "listed":
			if look = append(look, e); e.Kind == "list" {
				look = []Event{e}
			}
			continue
		case "skip":
			if mine = !skipped && (pod == "" || slices.Contains(e.Pods, pod)); mine {
				skipped = true
			}
		case "idle":
			resting++
			mine = mine && (pod != "" || resting == len(pods))
		case "end": // the next look may show what was created
			skipped = skipped && (e.Op != "create" || !mine || pod == "" && len(pods) > 1)
		}
		if !mine {
			continue
		}
		if slices.Contains([]string{"plan", "wait", "idle", "skip"}, e.Kind) {
			events, look = append(events, look...), nil
		}
		events = append(events, e)
	}
	return events
}

// sum makes one event of those of one kind, until a pod is planned again, with all their pods.
func sum(events []Event) (sums []Event) {
	at := map[string]int{}
	for _, e := range events {
		i, known := at[e.Kind+e.Op]
		if e.Pod == "" && e.Kind != "event" {
			sums = append(sums, e)
			continue
		}
		if again := known && e.Kind == "plan" && slices.Contains(sums[i].Pods, e.Pod); again || !known {
			if again {
				clear(at)
			}
			i, at[e.Kind+e.Op] = len(sums), len(sums)
			sums = append(sums, e)
		}
		s := &sums[i]
		s.Rows, s.TookMs, s.Error = nil, max(s.TookMs, e.TookMs), cmp.Or(s.Error, e.Error)
		if !slices.Contains(s.Pods, e.Pod) {
			s.Pods = append(s.Pods, e.Pod)
		}
	}
	return sums
}

// mark returns rows with the names of what has changed in the manifest, while they are not as desired.
func mark(rows []Row, changed []string) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		for _, text := range changed {
			if field, ok := strings.CutPrefix(text, rows[i].Container+": "); ok && rows[i].Sign != "=" {
				rows[i].Changed = append(rows[i].Changed, field)
			}
		}
	}
	return rows
}

// carryOut changes a comparison as an action does. Whatever is done, the sign stays until the loop compares again.
func carryOut(rows []Row, e Event) []Row {
	rows = each(rows, func(*Attempt) {})
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Container == e.Container })
	if i < 0 {
		return rows
	}
	r, progress := &rows[i], map[string]string{"begin": "doing", "end": "done"}[e.Kind]
	if e.Error != "" {
		progress = "failed"
	}
	for j := range r.Plan {
		if a := &r.Plan[j]; a.Do == e.Op && a.Attempt == e.Attempt {
			a.Progress = progress
		}
	}
	if progress == "done" {
		state := map[string]string{"create": "created", "start": "running", "stop": "ended", "remove": "removed"}[e.Op]
		done := Attempt{Attempt: e.Attempt, State: state, Unlisted: true, since: e.Time}
		r.Observed = slices.DeleteFunc(r.Observed, func(a Attempt) bool {
			done.Other = done.Other || a.Attempt == e.Attempt && a.Other
			return a.Attempt == e.Attempt
		})
		r.Observed = append(r.Observed, done)
		slices.SortFunc(r.Observed, func(a, b Attempt) int { return a.Attempt - b.Attempt })
	}
	return rows
}

// each returns a copy of rows with each attempt changed.
func each(rows []Row, change func(*Attempt)) []Row {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Observed, rows[i].Plan = slices.Clone(rows[i].Observed), slices.Clone(rows[i].Plan)
		for j := range rows[i].Observed {
			change(&rows[i].Observed[j])
		}
	}
	return rows
}

// Name is what people call the pod of an event, or the pods.
func (e Event) Name() string {
	if len(e.Pods) > 1 || e.Pod == "" && len(e.Pods) == 0 {
		return api.Count(max(len(e.Pods), e.N), "pod")
	}
	name, _, _ := strings.Cut(cmp.Or(e.Pod, strings.Join(e.Pods, "")), ".")
	return name
}
