package kubelet

import (
	"fmt"
	"syscall"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// seenContainer is a container as Docker shows it, times and exit code included.
type seenContainer struct {
	dockertools.Owned
	dockertools.Details // its State is the one that counts: it is newer than the list's

	// What the kubelet remembers of it, see podState.recall.
	Unhealthy string  // why, when a probe says so
	Killed    trouble // why the kubelet stopped it, if it was for no fault of the manifest's reader
	LastWords string  // of one that has ended: its termination message, or the end of its log
}

func (c *seenContainer) isNetwork() bool {
	return c.Of.Name == api.NetworkContainerName
}

// fresh says that the container was created, and never tried to start.
func (c *seenContainer) fresh() bool {
	return c.State == dockertools.StateCreated && c.Error == ""
}

// dead says that its life is over: it ran and ended, or its start failed.
func (c *seenContainer) dead() bool {
	return c.State.Ended() || c.State == dockertools.StateCreated && c.Error != ""
}

// failed says of a dead container that it did not end well. One that was stopped for
// a fault of its own has failed even if it then ended with 0, as servers do when
// they are asked to; a later kubelet goes by the exit code alone.
func (c *seenContainer) failed() bool {
	return c.ExitCode != 0 || c.Killed.reason != ""
}

// ran says that it had a process at least once.
func (c *seenContainer) ran() bool {
	return !c.StartedAt.IsZero()
}

// end says when a dead container ended and how many quick ends in a row that
// makes. A failed start is as quick as an end can be.
func (c *seenContainer) end() (at time.Time, quickEnds int) {
	if !c.State.Ended() {
		return c.Created, c.QuickEnds + 1
	}
	if c.FinishedAt.Sub(c.StartedAt) < quickEnd {
		return c.FinishedAt, c.QuickEnds + 1
	}
	return c.FinishedAt, 0
}

// verdict says in a line how a dead container ended.
func (c *seenContainer) verdict() string {
	how := fmt.Sprintf("ended with exit code %d", c.ExitCode)
	if signal := c.ExitCode - 128; signal > 0 && signal < 32 {
		how += fmt.Sprintf(" (%v)", syscall.Signal(signal))
	}
	switch {
	case !c.State.Ended():
		return "could not start: " + plainWords(c.Error)
	case c.Killed.message != "":
		how = "was stopped, since " + c.Killed.message
	case c.OOMKilled:
		how = "was killed: it used more than its memory limit"
	}
	if words := lastLine(c.LastWords); words != "" && c.Killed.message == "" {
		how += fmt.Sprintf(", saying %q", words)
	}
	return how
}

// endReason is one of api's Reason constants.
func (c *seenContainer) endReason() string {
	switch {
	case !c.State.Ended():
		return startReason(c.Error)
	case c.Killed.reason != "":
		return c.Killed.reason
	case c.OOMKilled:
		return api.ReasonOOMKilled
	case c.ExitCode == 0:
		return api.ReasonCompleted
	}
	return api.ReasonError
}

// probable says that a liveness probe may say something about the container.
func (c *seenContainer) probable(hash string) bool {
	return c.State == dockertools.StateRunning && c.Of.Hash == hash && !c.Of.AwaitsHook
}

// newestOf finds the attempt of a container that counts, or nil.
func newestOf(seen []seenContainer, uid, name string) (newest *seenContainer) {
	for i := range seen {
		if c := &seen[i]; c.Of.UID == uid && c.Of.Name == name && c.State != dockertools.StateRemoving {
			newest = c
		}
	}
	return newest
}

// podIP is the address of a pod: that of its network container that runs.
func podIP(seen []seenContainer) (ip string) {
	for i := range seen {
		if seen[i].isNetwork() && seen[i].State.Live() {
			ip = seen[i].IP
		}
	}
	return ip
}
