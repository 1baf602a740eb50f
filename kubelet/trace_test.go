package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/trace"
)

// traced starts a kubelet with a trace.
func traced(w *world, pods ...api.Pod) (*trace.Trace, *kubelet) {
	k := w.run(pods...)
	return k.kl.opts.Trace, k
}

// kinds returns the kinds of stages, without events of Docker and their effects, which come at any time.
func kinds(events []trace.Event) string {
	var kinds []string
	for _, e := range events {
		word := e.Kind.String()
		if e.Op != "" && e.Container != "" {
			word += "(" + e.Op + " " + e.Container + ")"
		}
		if !slices.Contains([]trace.Kind{trace.Docker, trace.List, trace.Listed, trace.Skip}, e.Kind) {
			kinds = append(kinds, word)
		}
	}
	return strings.Join(kinds, " ")
}

// told checks the title of a change and its stages for a pod, the last of which shows the pod at rest.
func told(t *testing.T, c trace.Change, title, pod, want string) []trace.Event {
	t.Helper()
	if got := kinds(c.Events); c.Title() != title || got != want {
		t.Errorf("%q: %s\nwant %q: %s", c.Title(), got, title, want)
	}
	stages := c.Tell(pod)
	for _, row := range stages[len(stages)-1].Rows {
		if row.Sign != "=" || len(row.Plan) > 0 {
			t.Errorf("%s ends with %+v", title, row)
		}
	}
	return stages
}

func TestTrace(t *testing.T) {
	inWorld(t, func(w *world) {
		tr, k := traced(w, pod("a", "main:s3cret"), pod("b", "main"))
		k.set(pod("a", "main:s3cret2"), pod("b", "main"))
		settle()
		const carriedOut = "begin(create main) end(create main) begin(stop main) end(stop main) begin(start main) end(start main)"
		stages := told(t, tr.Changes()[0], "a.yaml was edited", "a.default.file", "apply plan work "+carriedOut+" ended idle")
		for i, s := range stages {
			row := (append(s.Rows, trace.Row{}, trace.Row{}))[1] // main
			created := len(row.Observed) == 2 && row.Observed[1].Attempt == 2 && row.Observed[1].Version == "B" && row.Observed[1].Unlisted
			switch {
			case i == 0 && (row.Sign != "?" || fmt.Sprint(row.Changed) != "[env TAG changed]"):
				t.Errorf("before the comparison the row is %+v", row)
			case s.Kind == trace.Plan && (row.Sign != "≠" || len(row.Plan) != 3 || row.Plan[0].Progress != "" || row.Version+row.Observed[0].Version != "BA"):
				t.Errorf("in the plan the row is %+v", row)
			case s.Kind == trace.Begin && s.Op == "create" && (s.Busy != "a.default.file" || row.Plan[0].Progress != "doing"):
				t.Errorf("while %q is busy, the row is %+v", s.Busy, row)
			case s.Kind == trace.End && s.Op == "create" && (row.Sign != "≠" || !created):
				t.Errorf("before a list shows the new container, the row is %+v", row)
			case s.Kind == trace.Ended && row.Plan[2].Progress != "done":
				t.Errorf("at the end of work the plan is %+v", row.Plan)
			}
		}

		inspected := 0
		for _, e := range tr.Changes()[0].Events {
			inspected += e.Inspected
		}
		if inspected < 2 {
			t.Errorf("%d containers were inspected, want at least 2", inspected)
		}

		w.kill("a", "main", 3)
		settle()
		stages = told(t, tr.Changes()[0], "main of a: it ended with exit code 3", "a.default.file",
			"plan work begin(create main) end(create main) begin(start main) end(start main) ended idle")
		if first := stages[0]; first.Kind != trace.Docker || first.Container != "main" || first.Attempt != 2 {
			t.Errorf("a kill begins with %+v", first)
		}
		for _, edit := range []struct{ tag, version string }{{"s3cret", "A"}, {"3", "C"}} { // B is what runs
			k.set(pod("a", "main:"+edit.tag), pod("b", "main"))
			settle()
			if row := k.kl.Comparisons()["a.default.file"][1]; row.Version != edit.version || row.Observed[0].Version != edit.version {
				t.Errorf("after an edit to %s it is %+v, want version %s", edit.tag, row, edit.version)
			}
		}
		k.set(pod("b", "main"))
		settle()
		if title := tr.Changes()[0].Title(); title != "a is no longer wanted" {
			t.Errorf("a removal is %q", title)
		}
		if text := fmt.Sprint(tr.Changes()); strings.Contains(text, "s3cret") {
			t.Errorf("a value is shown: %s", text)
		}
		wait(time.Hour)
		if changes := tr.Changes(); len(changes) != 6 {
			t.Errorf("syncs that find nothing leave %+v", changes)
		}
	})
}

// While a container takes ten seconds to stop, lists show the new containers, but the loop has not compared them yet.
func TestTraceOfASlowStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		w.options = func(opts *Options) { opts.SyncFrequency = 3 * time.Second }
		tr, k := traced(w, pod("a", "main:1"))
		k.set(pod("a", "main:2"))
		settle()
		stages := tr.Changes()[0].Tell("a.default.file")
		i := slices.IndexFunc(stages, func(s trace.Event) bool { return s.Kind == trace.End && s.Op == "stop" })
		if row := stages[i-1].Rows[1]; row.Sign != "≠" || len(row.Observed) != 2 || row.Observed[1].Unlisted || stages[i].Took < 10*time.Second {
			t.Errorf("before the end of a stop that takes %v the loop knows %+v", stages[i].Took, row)
		}
	})
}

// Broken pods leave few changes: one is merged with its like, and to try again or to remove a dead attempt is none.
func TestTraceOfBrokenPods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{Exits: true, ExitCode: 3} }
		tr, k := traced(w, pod("crash", "main"), ofImage(pod("pull", "main"), "gone:1", ""))
		wait(time.Hour)
		titles := func() (all []string) {
			for _, c := range tr.Changes() {
				all = append(all, c.Title())
			}
			return slices.Sorted(slices.Values(all))
		}
		changes := tr.Changes()
		i := slices.IndexFunc(changes, func(c trace.Change) bool { return c.Title() == "main of crash: it ended with exit code 3" })
		if len(changes) > 5 || i < 0 || changes[i].Times < 5 || !strings.Contains(strings.Join(titles(), "\n"), "\nmain of pull: PullImage \"gone:1\": ") {
			t.Errorf("the changes of an hour are %q", titles())
		}
		for _, c := range changes {
			if title := c.Title(); strings.HasPrefix(title, "main of pull") && c.Times > 1 || strings.Contains(title, "dead attempts") {
				t.Errorf("%q is a change, %d times", title, c.Times)
			}
		}
		before := len(changes)
		k.set(pod("crash", "main:2"), ofImage(pod("pull", "main"), "gone:1", ""))
		wait(time.Hour)
		if n := len(tr.Changes()); n != before+2 || strings.Count(strings.Join(titles(), "\n"), "main of crash: it ended") != 2 {
			t.Errorf("after an edit the changes are %q", titles())
		}
	})
}

// A kubelet that starts again reads a file, which is not new. The version that runs is older than the one that is desired.
func TestTraceAfterARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		_, k := traced(w, pod("a", "main"))
		k.end()
		tr, k := traced(w, pod("a", "main:2"))
		settle()
		stages := tr.Changes()[0].Tell("a.default.file")
		i := slices.IndexFunc(stages, func(s trace.Event) bool { return s.Kind == trace.Plan })
		if row := stages[i].Rows[1]; tr.Changes()[0].Title() != "a.yaml was read" || row.Observed[0].Version != "A" || row.Version != "B" {
			t.Errorf("%q, and its plan has %+v", tr.Changes()[0].Title(), row)
		}
		if j := slices.IndexFunc(stages, func(s trace.Event) bool { return s.Kind == trace.List }); strings.Contains(stages[j].Reason, "retry") {
			t.Errorf("the first list is woken by %q", stages[j].Reason)
		}
		k.end()
		tr, _ = traced(w, pod("a", "main:2"), pod("b", "main"))
		settle()
		if title := tr.Changes()[0].Title(); title != "2 pods changed" {
			t.Errorf("a pod that is new beside one that was there: %q", title)
		}
	})
}

// When twenty pods start at once, and ten of them take ten seconds to stop, the story of each pod is short, and so is
// the sum.
func TestTraceOfManyPods(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(string) dockertest.Program { return dockertest.Program{IgnoreTerm: true} }
		var pods []api.Pod
		for i := range 20 {
			pods = append(pods, pod(fmt.Sprintf("p%02d", i), "main"))
		}
		tr, k := traced(w, pods...)
		k.set(pods[:10]...)
		settle()
		for i, title := range []string{"10 pods changed", "20 pods changed"} {
			c := tr.Changes()[i]
			sum, one := c.Tell(""), c.Tell("p15.default.file")
			if c.Title() != title || c.Dropped > 0 || len(sum) > 40 || len(one) > 40 {
				t.Errorf("%q has %d stages, for one pod %d; %d events are left out", c.Title(), len(sum), len(one), c.Dropped)
			}
			acts := slices.DeleteFunc(sum, func(s trace.Event) bool { return s.Kind != trace.Begin })
			for _, s := range acts {
				if s.Name()+" changed" != title {
					t.Errorf("%q: %s is summed up for %s", title, s.Op, s.Name())
				}
			}
		}
	})
}
