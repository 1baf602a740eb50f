package kubelet

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"kubelet14/api"
)

// WriteStatuses prints pods and their containers as a table.
func WriteStatuses(w io.Writer, pods []api.PodStatus, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tCONTAINER\tSTATE\tRESTARTS\tSINCE\tREASON")
	for _, p := range pods {
		fmt.Fprintf(table, "%s\t\t%s\t\t\t%s\n", p.FullName(), p.Phase, reasonText(p.Reason, p.Message))
		for _, c := range p.Containers {
			state, since, reason := "", time.Time{}, ""
			switch {
			case c.State.Running != nil:
				state, since, reason = "running", c.State.Running.StartedAt, oneLine(c.State.Running.Message)
				if reason == "" && c.Last != nil {
					reason = "before: " + endText(c.Last)
				}
			case c.State.Terminated != nil:
				state, since, reason = "terminated", c.State.Terminated.FinishedAt, reasonText(endText(c.State.Terminated), c.State.Terminated.Message)
			case c.State.Waiting != nil:
				state, reason = "waiting", reasonText(c.State.Waiting.Reason, c.State.Waiting.Message)
			}
			age := ""
			if !since.IsZero() {
				age = now.Sub(since).Round(time.Second).String()
			}
			fmt.Fprintf(table, "\t%s\t%s\t%d\t%s\t%s\n", c.Name, state, c.RestartCount, cmp.Or(age, "-"), cmp.Or(reason, "-"))
		}
	}
	return table.Flush()
}

func endText(end *api.ContainerStateTerminated) string {
	if end.ExitCode == 0 {
		return end.Reason
	}
	return fmt.Sprintf("%s (exit code %d)", end.Reason, end.ExitCode)
}

func reasonText(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + oneLine(message)
}

// oneLine makes a text harmless for a table on a terminal: it may come from a
// container.
func oneLine(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
