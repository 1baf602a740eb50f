package step

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"kubelet14/kubelet/trace"
)

// print prints a plan that waits beside what is desired and what is there.
func (s *Stepper) print(p Pod) {
	rows, edited := p.Compare()
	table := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintf(table, "\npod %s (%s)\n  \tDESIRED\tOBSERVED\n", p.Name, p.Origin)
	for _, row := range rows {
		fmt.Fprintf(table, "%s %s\t%s\t%s\n", row.Sign, row.Container, row.Desired, observed(row))
	}
	for _, changed := range edited {
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

// observed describes what there is of a container.
func observed(row trace.Row) string {
	var there []string
	for _, a := range row.Observed {
		text := fmt.Sprintf("attempt %d %s", a.Attempt, cmp.Or(a.Message, "is "+a.State))
		if row.Version != "" && a.Version != row.Version {
			text += ", of another version"
		}
		there = append(there, text)
	}
	return cmp.Or(strings.Join(there, "; "), "nothing")
}
