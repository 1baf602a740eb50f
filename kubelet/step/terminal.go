package step

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"kubelet14/kubelet/trace"
)

const help = "Enter: do this. 1: do its first step. POD: do that pod's. a: do all from now on. s: stop at each again. q: end.\n"

// Read carries out what the lines of in say, until a q or their end.
func (s *Stepper) Read(in io.Reader) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch line := strings.TrimSpace(lines.Text()); line {
		case "q":
			return
		case "a", "s":
			s.mu.Lock()
			s.all = line == "a"
			s.mu.Unlock()
			s.Wake()
		case "1":
			s.allow("", 1)
		default:
			s.allow(line, math.MaxInt)
		}
	}
}

// allow allows steps of the plan of a pod, or of the one that has waited longest for "".
func (s *Stepper) allow(pod string, steps int) {
	var names []string
	for _, w := range s.Waiting() {
		if name, _, _ := strings.Cut(w.Pod, "."); pod == "" || pod == w.Pod || pod == name {
			s.Allow(w, steps)
			return
		}
		names = append(names, w.Pod)
	}
	if len(names) > 0 {
		fmt.Fprintf(s.Out, "%q is none of the pods that wait: %s\n%s", pod, strings.Join(names, ", "), help)
	} else {
		fmt.Fprintln(s.Out, "no pod waits: every pod is as it should be, or is being worked on")
	}
}

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
