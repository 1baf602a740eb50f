package plan

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"kubelet14/api"
)

// Exit describes how a terminated container ended: the Reason and Message of a Problem.
func (c *Observed) Exit() Problem {
	exit := Problem{Container: c.Of.Name, Reason: api.ReasonError, Message: fmt.Sprintf("ended with exit code %d", c.ExitCode)}
	if signal := c.ExitCode - 128; signal > 0 && signal < 32 {
		exit.Message += fmt.Sprintf(" (%v)", syscall.Signal(signal))
	}
	switch {
	case !c.State.Ended():
		exit.Reason, exit.Message = StartFailure(c.Error)
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

// lastLine returns the last line of a text that is not blank, cut to fit into a log line.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return api.Shorten(text[strings.LastIndexByte(text, '\n')+1:], 120)
}

// TrimLayers leaves out of Docker's error the names of the layers that passed it on.
func TrimLayers(text string) string {
	for _, layer := range []string{
		"failed to create shim task: ", "OCI runtime create failed: ", "OCI runtime exec failed: ", "runc create failed: ",
		"exec failed: ", "unable to start container process: ",
	} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return strings.TrimSuffix(text, ": unknown")
}

// busyPort finds the port in Docker's error about one that is taken.
var busyPort = regexp.MustCompile(`:(\d+)(?: failed)?: (?:bind: )?(port is already allocated|address already in use)`)

// StartFailure reads the reason of a failed start from Docker's error, which has no code
// for it.
func StartFailure(text string) (reason, message string) {
	message = "could not start: " + TrimLayers(text)
	contains := func(part string) bool { return strings.Contains(text, part) }
	port := busyPort.FindStringSubmatch(text)
	switch {
	case port != nil && port[2] == "port is already allocated":
		return api.ReasonPortTaken, fmt.Sprintf("could not start: another container has the host port %s; `docker ps --filter publish=%[1]s` shows it", port[1])
	case port != nil:
		return api.ReasonPortTaken, fmt.Sprintf("could not start: address already in use: a program of this host has the port %s; `ss -lntup` shows it", port[1])
	case contains("port is already allocated"), contains("address already in use"):
		return api.ReasonPortTaken, message
	case contains("exec: ") && (contains("executable file not found") || contains("no such file or directory") || contains("permission denied")):
		return api.ReasonCommandNotFound, message
	}
	return api.ReasonCannotStart, message
}
