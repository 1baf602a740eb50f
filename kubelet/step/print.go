package step

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/trace"
)

// versions has the manifests that the containers of a pod were made of, by name and hash. A
// kubelet that was started later does not know them.
type versions map[[2]string]*api.ContainerManifest

// remember notes the versions of a pod that are desired or there.
func (s *Stepper) remember(p Pod) {
	now := versions{}
	for _, c := range p.Observed {
		if version := [2]string{c.Of.Name, c.Of.Hash}; s.known[p.Name][version] != nil {
			now[version] = s.known[p.Name][version]
		}
	}
	if p.Desired != nil {
		for _, c := range p.Desired.Containers() {
			now[[2]string{c.Name, c.Hash}] = &p.Desired.Manifest
		}
	}
	if s.known == nil {
		s.known = map[string]versions{}
	}
	if s.known[p.Name] = now; len(now) == 0 {
		delete(s.known, p.Name)
	}
}

// print prints a plan that waits beside what is desired and what is there.
func (s *Stepper) print(p Pod) {
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintf(table, "\npod %s (%s)\n  \tDESIRED\tOBSERVED\n", p.Name, p.Origin)
	for _, row := range Compare(p.Desired, p.Observed, p.Plan) {
		fmt.Fprintf(table, "%s %s\t%s\t%s\n", row.Sign, row.Container, row.Desired, observed(row))
	}
	for _, changed := range s.changes(p) {
		fmt.Fprintf(table, "  edited\t%s\n", changed)
	}
	for i, step := range p.Plan.Steps {
		for _, a := range step {
			fmt.Fprintf(table, "  step %d\t%s %s (attempt %d): %s\n", i+1, a.Kind, a.Name.Name, a.Name.Attempt, a.Reason)
		}
	}
	fmt.Fprint(table, help)
}

// printEmpty says that there is nothing left to do for a pod that has waited, and what it lacks.
func (s *Stepper) printEmpty(p Pod) {
	if s.all {
		return
	}
	fmt.Fprintf(s.Out, "\npod %s: nothing to do now\n", p.Name)
	for _, problem := range p.Plan.Problems {
		fmt.Fprintf(s.Out, "  %s: %v\n", problem.Reason, problem)
	}
}

// changes returns what was edited since the manifest that the pod's containers were made of.
func (s *Stepper) changes(p Pod) []string {
	if p.Desired == nil {
		return nil
	}
	for i, c := range slices.Backward(p.Observed) {
		old := s.known[p.Name][[2]string{c.Of.Name, c.Of.Hash}]
		if want := p.Desired.Container(c.Of.Name); counts(p.Observed, i) && old != nil && (want == nil || want.Hash != c.Of.Hash) {
			return api.Changes(old, &p.Desired.Manifest)
		}
	}
	return nil
}

// observed describes what there is of a container.
func observed(row trace.Row) string {
	var there []string
	for _, a := range row.Observed {
		text := fmt.Sprintf("attempt %d %s", a.Attempt, cmp.Or(a.Message, "is "+a.State))
		if a.Other {
			text += ", of another version"
		}
		there = append(there, text)
	}
	return cmp.Or(strings.Join(there, "; "), "nothing")
}

// Compare returns the containers that are desired, in the order in which they start, and then the others that are there, each
// with its part of a plan.
func Compare(pod *plan.Pod, observed []plan.Observed, todo plan.Plan) (rows []trace.Row) {
	if pod != nil {
		policy := "runs"
		switch {
		case pod.Complete.RestartPolicy.OnFailure != nil:
			policy = "runs until it succeeds"
		case pod.Complete.RestartPolicy.Never != nil:
			policy = "runs once"
		}
		rows = append(rows, trace.Row{Container: pod.Network.Name, Desired: "runs with the others"})
		for _, c := range pod.Init {
			rows = append(rows, trace.Row{Container: c.Name, Desired: "runs until it succeeds, before the others"})
		}
		for _, c := range pod.Apps {
			rows = append(rows, trace.Row{Container: c.Name, Desired: policy})
		}
	}
	for i := range observed { // ordered by container and attempt
		name := observed[i].Of.Name
		if !slices.ContainsFunc(rows, func(r trace.Row) bool { return r.Container == name }) {
			rows = append(rows, trace.Row{Container: name, Desired: "nothing"})
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.Sign = "="; slices.ContainsFunc(todo.Problems, func(p plan.Problem) bool { return p.Container == row.Container }) {
			row.Sign = "≠" // and nothing can be done now
		}
		for j := range observed {
			c := &observed[j]
			if c.Of.Name == row.Container && counts(observed, j) {
				row.Observed = append(row.Observed, attempt(pod, c))
			}
		}
		for n, step := range todo.Steps {
			for _, a := range step {
				if a.Name.Name == row.Container {
					row.Sign = "≠"
					row.Plan = append(row.Plan, trace.Act{Step: n + 1, Do: a.Kind.String(), Attempt: a.Name.Attempt, Reason: a.Reason})
				}
			}
		}
	}
	return rows
}

// counts reports whether an attempt is the newest of its container, or live: the others were replaced.
func counts(observed []plan.Observed, i int) bool {
	return i+1 == len(observed) || observed[i+1].Of.Name != observed[i].Of.Name || observed[i].State.Live()
}

func attempt(pod *plan.Pod, c *plan.Observed) trace.Attempt {
	a := trace.Attempt{Attempt: c.Of.Attempt, State: string(c.State)}
	if c.Terminated() {
		a.State, a.Message = "ended", c.Exit().Message
	}
	if pod != nil {
		want := pod.Container(c.Of.Name)
		a.Other = want == nil || want.Hash != c.Of.Hash || c.Of.UID != pod.UID
	}
	return a
}
