package step

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"kubelet14/api"
	"kubelet14/kubelet/status"
	"kubelet14/kubelet/trace"
)

// The most that is kept of a long line, and of unread output, in bytes.
const maxWord, maxUnread = 40, 1 << 20

// prompt says which plan Enter carries out, which others wait, and what else can be typed. s.mu is locked.
func (s *Stepper) prompt() string {
	var names []string
	for _, w := range s.waits() {
		name, _, _ := api.SplitFullName(w.Pod)
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	others := strings.Join(names[1:], ", ")
	if others != "" {
		others = "; " + others + map[bool]string{true: " waits too", false: " wait too"}[len(names) == 2]
	}
	return fmt.Sprintf("Enter: do %s%s. 1: do its first step. POD: do that pod's. a: do all from now on. s: stop at each again. q: end.\n", names[0], others)
}

// Read carries out the lines of in, until a q or the end.
func (s *Stepper) Read(in io.Reader) {
	for lines := bufio.NewReader(in); ; {
		text, long, err := lines.ReadLine()
		word := strings.TrimSpace(string(text))
		if long {
			word = word[:min(len(word), maxWord)] + "…"
		}
		for long && err == nil {
			_, long, err = lines.ReadLine()
		}
		switch {
		case err != nil || word == "q":
			return
		case word == "a" || word == "s":
			s.mu.Lock()
			s.all = word == "a"
			s.mu.Unlock()
			s.Wake()
		case word == "1":
			s.allow("", 1)
		default:
			s.allow(word, math.MaxInt)
		}
	}
}

// allow allows steps of the plan of a pod, or of the one that has waited longest for "".
func (s *Stepper) allow(pod string, steps int) {
	var names []string
	for _, w := range s.Waiting() {
		if name, _, _ := api.SplitFullName(w.Pod); pod == "" || pod == w.Pod || pod == name {
			s.Allow(w, steps)
			return
		}
		names = append(names, w.Pod)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(names) > 0 {
		s.say("%q is none of the pods that wait: %s\n%s", pod, strings.Join(names, ", "), s.prompt())
	} else {
		s.say("no pod waits: every pod is as it should be, or is being worked on\n")
	}
}

// say prints a text without waiting for a reader, and drops the oldest unread texts. s.mu is locked.
func (s *Stepper) say(format string, args ...any) {
	s.unread = append(s.unread, fmt.Sprintf(format, args...))
	size := 0
	for i, text := range slices.Backward(s.unread) {
		if size += len(text); size > maxUnread {
			s.unread = append([]string{"(what was printed before was not read, and is lost)\n"}, s.unread[i+1:]...)
			break
		}
	}
	if !s.printing {
		s.printing = true
		go s.print() // it ends when Out has taken all, or with the program
	}
}

// print writes to Out until nothing is left.
func (s *Stepper) print() {
	for {
		s.mu.Lock()
		texts := s.unread
		s.unread, s.printing = nil, len(texts) > 0
		s.mu.Unlock()
		if len(texts) == 0 {
			return
		}
		io.WriteString(s.Out, strings.Join(texts, ""))
	}
}

// printPlan prints a waiting plan beside the desired and observed state.
func (s *Stepper) printPlan(p Plan) {
	rows, edited := s.Compare(p.Pod)
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
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
	table.Flush()
	s.say("%s%s", &text, s.prompt())
}

// printEmpty says that there is nothing left to do for a pod, what its problems are, and which other plans wait.
func (s *Stepper) printEmpty(p *status.Pod) {
	if s.all {
		return
	}
	s.say("\npod %s: nothing to do now\n", p.Name)
	for _, problem := range p.Plan.Problems {
		s.say("  %s: %v\n", problem.Reason, problem)
	}
	s.say("%s", s.prompt())
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
