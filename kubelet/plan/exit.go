package plan

import (
	"fmt"
	"strings"
	"syscall"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Exit describes how a terminated container ended: the Reason and Message of a Problem.
func (c *Observed) Exit() Problem {
	exit := Problem{Container: c.Of.Name, Reason: api.ReasonError, Message: fmt.Sprintf("ended with exit code %d", c.ExitCode)}
	if signal := c.ExitCode - 128; signal > 0 && signal < 32 {
		exit.Message += fmt.Sprintf(" (%v)", syscall.Signal(signal))
	}
	switch {
	case !c.State.Ended():
		exit.Reason, exit.Message = dockertools.StartFailure(c.Error)
		return exit
	case c.Killed.Reason != "":
		exit.Reason, exit.Message = c.Killed.Reason, "was stopped: "+c.Killed.Message
		return exit
	case c.OOMKilled:
		exit.Reason, exit.Message = api.ReasonOOMKilled, "was killed: it used more than its memory limit"
	case c.ExitCode == 0:
		exit.Reason = api.ReasonCompleted
	}
	if line := lastLine(c.TerminationMessage); line != "" {
		exit.Message += fmt.Sprintf(": %q", line)
	}
	return exit
}

// lastLine returns the last line of a text that is not blank, shortened for a log line.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return api.Shorten(text[strings.LastIndexByte(text, '\n')+1:], 120)
}
