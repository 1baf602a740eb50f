package trace

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/watch"
)

// Title names a change by its cause, or by what failed if nothing was done.
func (c *Change) Title() string {
	pods := c.acted()
	for _, e := range c.Events {
		file, pod := path.Base(e.Place), e.Name()
		switch {
		case e.Kind == Read && e.Error != "":
			return "Source " + e.Source + " has errors"
		case e.Kind == Apply && len(c.Pods()) > 1:
			return api.Count(len(c.Pods()), "pod") + map[bool]string{true: " were read", false: " changed"}[c.wereThere()]
		case e.Kind == Apply && c.wereThere():
			return file + " was read"
		case e.Kind == Apply:
			return map[watch.Change]string{
				watch.Found: file + " is new", watch.Edited: file + " was edited", watch.NoLongerWanted: pod + " is no longer wanted",
				watch.ServicesChanged: "services of " + pod + " have changed",
			}[e.Change]
		case len(pods) == 0 && e.Kind == End && e.Error != "":
			text, _, _ := strings.Cut(e.Error, images.NextPull)
			return e.Container + " of " + pod + ": " + text
		}
	}
	if pods == nil {
		pods = c.Pods()
	}
	for _, e := range c.Events {
		if !slices.Contains(pods, e.Pod) || e.Rows == nil {
			continue
		}
		if len(pods) > 1 {
			return api.Count(len(pods), "pod") + " were not as desired"
		}
		for _, row := range e.Rows {
			for _, a := range row.Plan {
				return row.Container + " of " + e.Name() + ": " + a.Reason
			}
		}
	}
	return "Source " + c.Events[0].Source + " was read"
}

// acted returns the pods of which a container was created, started or stopped.
func (c *Change) acted() (pods []string) {
	for _, e := range c.Events {
		if e.Kind == End && e.Error == "" && e.Op != "remove" && !slices.Contains(pods, e.Pod) {
			pods = append(pods, e.Pod)
		}
	}
	return pods
}

// wereThere reports whether the pods were only found again, with their containers, after a start of the kubelet.
func (c *Change) wereThere() bool {
	there := map[string]bool{} // by pod: whether the first comparison has containers
	for _, e := range slices.Backward(c.Events) {
		switch e.Kind {
		case Apply:
			if e.Change != watch.Found {
				return false
			}
		case Plan, Wait, Idle:
			there[e.Pod] = slices.ContainsFunc(e.Rows, func(r Row) bool { return len(r.Observed) > 0 })
		}
	}
	return len(there) > 0 && !slices.Contains(slices.Collect(maps.Values(there)), false)
}

// isNone reports whether only dead attempts were to be removed, or what failed before has failed again.
func (c *Change) isNone(before []Change) bool {
	planned, failed, compared := false, false, false
	for _, e := range c.Events {
		if e.Kind == Apply || e.Kind == Read && e.Error != "" {
			return false
		}
		failed = failed || e.Kind == End && e.Error != ""
		compared = compared || e.Rows != nil
		planned = planned || slices.ContainsFunc(e.Rows, func(r Row) bool {
			return slices.ContainsFunc(r.Plan, func(a Act) bool { return a.Do != "remove" })
		})
	}
	return compared && c.acted() == nil && (!planned || failed && c.like(before) >= 0)
}

// like returns the place of the change with the same cause, unless one of its pods was edited since; -1: there is none.
func (c *Change) like(before []Change) int {
	for i, b := range before {
		if b.Title() == c.Title() {
			return i
		}
		edits := func(e Event) bool { return e.Kind == Apply && slices.Contains(c.Pods(), e.Pod) }
		if slices.ContainsFunc(b.Events, edits) {
			break
		}
	}
	return -1
}

// waits reports whether a change ends with a plan that waits for a person.
func (c *Change) waits() (waits bool) {
	for _, e := range c.Events {
		if e.Kind == Plan || e.Kind == Wait || e.Kind == Idle {
			waits = e.Kind == Wait
		}
	}
	return waits
}

// Took returns how long a change lasted.
func (c *Change) Took() time.Duration {
	return c.Events[len(c.Events)-1].Time.Sub(c.Events[0].Time).Round(10 * time.Millisecond)
}

// Pods returns the pods that a change is about, by full name.
func (c *Change) Pods() (pods []string) {
	for _, e := range c.Events {
		if e.Pod != "" && e.Kind != Docker && !slices.Contains(pods, e.Pod) {
			pods = append(pods, e.Pod)
		}
	}
	slices.Sort(pods)
	return pods
}

// Tell returns the stages of a change for one pod, or a summary of all pods for "". The rows of a stage are what the loop knew at
// that moment, with what workers have done since.
func (c *Change) Tell(pod string) (stages []Event) {
	var rows []Row
	var listed time.Time
	var busy []string
	events := c.about(pod)
	if pod == "" {
		events = sum(events)
	}
	for _, e := range events {
		switch e.Kind {
		case Read: // only the loop knows the place of what differs
			e.Place = events[max(0, slices.IndexFunc(events, func(e Event) bool { return e.Kind == Apply }))].Place
		case Apply, Plan, Wait, Idle:
			rows = e.Rows
		case Begin, End:
			rows = carryOut(rows, e)
		case List:
			listed = e.Time
		case Listed: // what was done before the list is seen
			rows = each(rows, func(a *Attempt) { a.Unlisted = a.Unlisted && a.since.After(listed) })
		case Work:
			busy = append(e.Pods, e.Pod)
		case Ended:
			busy = nil
		}
		e.Rows, e.Busy, e.Ms = rows, strings.Join(busy, " "), e.Time.Sub(events[0].Time).Milliseconds()
		stages = append(stages, e)
	}
	if c.Dropped > 0 {
		cut := stages[len(stages)-1]
		stages = append(stages, Event{Kind: Cut, N: c.Dropped, Time: cut.Time, Ms: cut.Ms, Rows: cut.Rows})
	}
	return stages
}

// about returns the events about a pod; for "" those of all pods, with only the last of those that come to rest. Of the
// looks of the loop it keeps those that found something, and after each creation the first that skipped the pod.
func (c *Change) about(pod string) (events []Event) {
	var look []Event
	skipped, all := false, len(c.Pods())
	resting := all
	for _, e := range c.Events {
		mine := pod == "" || e.Pod == pod || e.Pod == "" && (e.Kind != Docker || all == 1)
		switch e.Kind {
		case List:
			look = []Event{e}
			continue
		case Listed:
			look = append(look, e)
			if mine = !skipped && (pod == "" && len(e.Pods) > 0 || slices.Contains(e.Pods, pod)); !mine {
				continue
			}
			e.Kind, e.N, skipped = Skip, 0, true
			if pod != "" {
				e.Pods = []string{pod}
			}
		case Idle:
			resting--
			mine = mine && (pod != "" || resting == 0)
		case End: // the next look may show what was created
			skipped = skipped && (e.Op != "create" || e.Pod != pod)
		}
		if !mine {
			continue
		}
		if slices.Contains([]Kind{Plan, Wait, Idle, Skip}, e.Kind) {
			events, look = append(events, look...), nil
		}
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return a.Time.Compare(b.Time) }) // a look may have found something only later
	return events
}

// sum joins the events of one kind into one with all their pods, until a pod is planned again.
func sum(events []Event) (sums []Event) {
	at := map[string]int{}
	for _, e := range events {
		group := e.Kind.String() + e.Op
		i, known := at[group]
		if e.Pod == "" && e.Kind != Docker {
			sums = append(sums, e)
			continue
		}
		if again := known && e.Kind == Plan && slices.Contains(sums[i].Pods, e.Pod); again || !known {
			if again {
				clear(at)
			}
			i, at[group] = len(sums), len(sums)
			sums = append(sums, e)
		}
		s := &sums[i]
		s.Rows, s.Took, s.Error = nil, max(s.Took, e.Took), cmp.Or(s.Error, e.Error)
		if !slices.Contains(s.Pods, e.Pod) {
			s.Pods = append(s.Pods, e.Pod)
		}
	}
	return sums
}

// carryOut applies an action to a comparison. The sign stays until the loop compares again.
func carryOut(rows []Row, e Event) []Row {
	rows = each(rows, func(*Attempt) {})
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Container == e.Container })
	if i < 0 {
		return rows
	}
	r, progress := &rows[i], map[Kind]string{Begin: "doing", End: "done"}[e.Kind]
	if e.Error != "" {
		progress = "failed"
	}
	for j := range r.Plan {
		if a := &r.Plan[j]; a.Do == e.Op && a.Attempt == e.Attempt {
			a.Progress = progress
		}
	}
	if progress != "done" {
		return rows
	}
	at := slices.IndexFunc(r.Observed, func(a Attempt) bool { return a.Attempt == e.Attempt })
	if at < 0 {
		at, r.Observed = len(r.Observed), append(r.Observed, Attempt{Attempt: e.Attempt, Version: r.Version})
	}
	a := &r.Observed[at]
	a.State, a.Message, a.Unlisted, a.since = map[string]string{"create": "created", "start": "running", "stop": "ended", "remove": "removed"}[e.Op], "", true, e.Time
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

// Replaces reports whether a container of a stage is created to replace one that runs.
func (e Event) Replaces() bool {
	return e.Op == "create" && slices.ContainsFunc(e.Rows, func(r Row) bool {
		return r.Container == e.Container && slices.ContainsFunc(r.Observed, func(a Attempt) bool { return a.State == "running" })
	})
}

// Name returns the name of the pod of an event, or the number of its pods.
func (e Event) Name() string {
	if len(e.Pods) > 1 || e.Pod == "" && len(e.Pods) == 0 {
		return api.Count(max(len(e.Pods), e.N), "pod")
	}
	name, _, _ := api.SplitFullName(cmp.Or(e.Pod, strings.Join(e.Pods, "")))
	return name
}
