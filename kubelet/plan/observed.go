package plan

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// crashLimit is the running time below which an end counts as a crash, whatever the exit
// code. A container that ran longer is started again at once.
const crashLimit = 10 * time.Minute

// Observed is a container as Docker shows it, with what the kubelet knows of it besides.
type Observed struct {
	dockertools.Owned
	dockertools.Details // its State is newer than the list's

	Unhealthy          string  // how its startup or liveness probe failed; empty: it did not
	Killed             Problem // why the kubelet stopped it, if it was for a fault of the container
	TerminationMessage string  // of a terminated container: its message, or the end of its log
}

// IsNetwork reports whether c is its pod's network container.
func (c *Observed) IsNetwork() bool { return c.Of.Name == api.NetworkContainerName }

// NeverStarted reports whether c was created and Docker was not asked to start it.
func (c *Observed) NeverStarted() bool { return c.State == dockertools.StateCreated && c.Error == "" }

// Terminated reports whether c ran and ended, or could not be started.
func (c *Observed) Terminated() bool {
	return c.State.Ended() || c.State == dockertools.StateCreated && c.Error != ""
}

// HasStarted reports whether c had a process at least once.
func (c *Observed) HasStarted() bool { return !c.StartedAt.IsZero() }

// Failed reports whether a terminated container did not succeed. One that was stopped for
// a fault of its own failed even if it then exited with 0, as servers do.
func (c *Observed) Failed() bool { return c.ExitCode != 0 || c.Killed.Reason != "" }

// End returns when a terminated container ended, and how many crashes in a row that makes.
// A failed start is a crash.
func (c *Observed) End() (at time.Time, crashes int) {
	switch {
	case !c.State.Ended():
		return c.Created, c.QuickEnds + 1
	case c.FinishedAt.Sub(c.StartedAt) < crashLimit:
		return c.FinishedAt, c.QuickEnds + 1
	}
	return c.FinishedAt, 0
}

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
	const limit = 120 // bytes
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return line
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
	if port := busyPort.FindStringSubmatch(text); port != nil && port[2] == "port is already allocated" {
		message = fmt.Sprintf("could not start: another container has the host port %s; `docker ps --filter publish=%[1]s` shows it", port[1])
	} else if port != nil {
		message = fmt.Sprintf("could not start: address already in use: a program of this host has the port %s; `ss -lntup` shows it", port[1])
	}
	switch {
	case contains("port is already allocated"), contains("address already in use"):
		return api.ReasonPortTaken, message
	case contains("executable file not found"), contains("no such file or directory"), contains("permission denied"):
		return api.ReasonCommandNotFound, message
	}
	return api.ReasonCannotStart, message
}
