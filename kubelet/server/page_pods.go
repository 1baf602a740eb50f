package server

import (
	"maps"
	"net/url"
	"slices"

	"kubelet14/api"
	"kubelet14/kubelet/trace"
)

// Many reports whether pods are shown as rows that can be opened, and not as cards.
func (p *page) Many() bool { return len(p.Pods) > 6 }

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
		if _, _, problem := Describe(c); problem != Join(pod.Reason, pod.Message) {
			row.Problem = problem
		}
		if c.Name != api.NetworkContainerName || len(row.Plan) > 0 || row.Problem != "" { // else it is of interest to nobody
			v.Rows = append(v.Rows, row)
		}
	}
	return v
}

// Told returns what the loop has compared of a pod, with the logs that are still there.
func (p *page) Told(pod string, rows []trace.Row) *view {
	v := &view{Page: p, Pod: pod}
	for _, row := range rows {
		if row.Container == api.NetworkContainerName && row.Sign != "≠" {
			continue
		}
		v.Rows = append(v.Rows, viewRow{Row: row})
		for _, status := range p.Pods {
			for _, c := range status.Containers {
				if status.FullName() == pod && c.Name == row.Container {
					v.Rows[len(v.Rows)-1].Log = p.LogLink(status, c)
				}
			}
		}
	}
	return v
}

// group is an event with the number of times it happened.
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

// LogLink is the address of a container's log, or empty when there is none to read.
func (p *page) LogLink(pod api.PodStatus, c api.ContainerStatus) string {
	neverRan := c.State.Waiting != nil && c.RestartCount == 0 && c.Last == nil
	if !p.Debugging || neverRan || c.Name == "" || c.Name == api.NetworkContainerName {
		return ""
	}
	return "/containerLogs/" + url.PathEscape(pod.Namespace) + "/" + url.PathEscape(pod.FullName()) + "/" + url.PathEscape(c.Name) + "?tail=200&key=" + p.Key
}

// tone is the class of a pod: good, busy, bad or done. An error of its source does not count, or one bad file would turn every
// pod red.
func tone(p api.PodStatus) string {
	if p.NotReady() {
		return "busy"
	}
	return map[api.PodPhase]string{
		api.PodPending: "busy", api.PodRunning: "good", api.PodFailing: "bad", api.PodSucceeded: "done", api.PodFailed: "bad", api.PodStopped: "done",
		api.PodRemoving: "busy",
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
