package server

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"kubelet14/api"
)

// serveStatus answers with the state of every source and pod as text: with 200 when all pods are up and all sources were
// read, otherwise with 503 and the reasons after an empty line.
func (s *Server) serveStatus(w http.ResponseWriter, _ *http.Request) error {
	var text strings.Builder
	var problems []string
	for _, source := range s.opts.Sources() { // before the pods: one that is read in between counts as not read
		fmt.Fprintln(&text, source)
		switch {
		case !source.FailingSince.IsZero():
			problems = append(problems, "cannot read source "+source.Source)
		case source.LastSuccess.IsZero():
			problems = append(problems, "source "+source.Source+" has not been read yet")
		}
	}
	pods, _, err := s.opts.Kubelet.Statuses()
	if err != nil {
		problems = append(problems, oneLine(err.Error()))
	}
	down := 0
	for i := range pods {
		if !isUp(&pods[i]) {
			down++
		}
	}
	if down > 0 {
		problems = append(problems, fmt.Sprintf("%d of %d pods are not up, for the reasons in the table", down, len(pods)))
	}
	if err := WriteStatuses(&text, pods, time.Now()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if problems != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(&text, "\n%s\n", strings.Join(problems, "\n"))
	}
	_, err = io.WriteString(w, printable(text.String()))
	return err
}

// isUp reports whether all containers of a pod run as they should or have completed. A pod that is being removed counts as up.
func isUp(p *api.PodStatus) bool {
	if p.Reason == api.ReasonRemoved || p.Phase == api.PodSucceeded {
		return true
	}
	for _, c := range p.Containers {
		runs := c.State.Running != nil && c.State.Running.Message == ""
		completed := c.State.Terminated != nil && c.State.Terminated.Reason == api.ReasonCompleted
		if !runs && !completed {
			return false
		}
	}
	return p.Phase == api.PodRunning && p.Reason == ""
}

// WriteStatuses writes a table of pods and their containers, which is safe to print on a terminal.
func WriteStatuses(w io.Writer, pods []api.PodStatus, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tCONTAINER\tSTATE\tRESTARTS\tSINCE\tREASON")
	for _, p := range pods {
		fmt.Fprintf(table, "%s\t\t%s\t\t\t%s\n", p.FullName(), p.Phase, oneLine(join(p.Reason, p.Message)))
		for _, c := range p.Containers {
			state, since, reason := "", time.Time{}, ""
			switch {
			case c.State.Running != nil:
				state, since, reason = "running", c.State.Running.StartedAt, c.State.Running.Message
				if reason == "" && c.Last != nil {
					reason = "before: " + exitText(c.Last)
				}
			case c.State.Terminated != nil:
				state, since, reason = "terminated", c.State.Terminated.FinishedAt, join(exitText(c.State.Terminated), c.State.Terminated.Message)
			case c.State.Waiting != nil:
				state, reason = "waiting", join(c.State.Waiting.Reason, c.State.Waiting.Message)
			}
			age := "-"
			if !since.IsZero() {
				age = now.Sub(since).Round(time.Second).String()
			}
			fmt.Fprintf(table, "\t%s\t%s\t%d\t%s\t%s\n", c.Name, state, c.RestartCount, age, cmp.Or(oneLine(reason), "-"))
		}
	}
	return table.Flush()
}

func exitText(end *api.ContainerStateTerminated) string {
	if end.ExitCode == 0 {
		return end.Reason
	}
	return fmt.Sprintf("%s (exit code %d)", end.Reason, end.ExitCode)
}

// join returns "reason: message", or the one that is not empty.
func join(reason, message string) string {
	if reason == "" || message == "" {
		return cmp.Or(reason, message)
	}
	return reason + ": " + message
}

// oneLine replaces line breaks by semicolons and what is not printable by spaces.
func oneLine(text string) string {
	return printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// printable replaces by spaces what a terminal might interpret, except line breaks.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
