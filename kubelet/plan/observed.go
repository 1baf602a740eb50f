package plan

import (
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// crashLimit is the running time below which an end counts as a crash, whatever the exit
// code. A container that ran longer is started again at once.
const crashLimit = 10 * time.Minute

// Observed is a container as Docker shows it, with what else the kubelet knows about it.
type Observed struct {
	dockertools.Listed    // from the sync's list of containers
	dockertools.Inspected // from its inspect, which may be newer

	Unhealthy          string  // how its startup or liveness probe failed; empty: it did not
	StartupPassed      bool    // its startup probe has succeeded
	Signalled          bool    // it ended after somebody else sent it a signal, as `docker stop` does
	Killed             Problem // why the kubelet stopped it, if it was for a fault of the container or an eviction
	TerminationMessage string  // of a terminated container: its message, or the end of its log
}

// IsNetwork reports whether c is its pod's network container.
func (c *Observed) IsNetwork() bool { return c.Of.Name == api.NetworkContainerName }

// isConnected reports whether a network container is in its network. A list made before it started shows no endpoint.
func (c *Observed) isConnected() bool { return c.Endpoint != "" || !c.ListState.Live() }

// NeverStarted reports whether c was created and Docker was not asked to start it.
func (c *Observed) NeverStarted() bool { return c.State == dockertools.StateCreated && c.Error == "" }

// Terminated reports whether c ran and ended, or could not be started.
func (c *Observed) Terminated() bool {
	return c.State.Ended() || c.State == dockertools.StateCreated && c.Error != ""
}

// HasStarted reports whether c had a process at least once.
func (c *Observed) HasStarted() bool { return !c.StartedAt.IsZero() }

// Failed reports whether a terminated container failed. One that was stopped as unhealthy did, even if it
// then exited with 0, as servers do.
func (c *Observed) Failed() bool { return c.ExitCode != 0 || c.Killed.Reason != "" }

// End returns when a terminated container ended, and how many times in a row it has crashed. A failed start is a crash.
func (c *Observed) End() (at time.Time, crashes int) {
	switch {
	case !c.State.Ended():
		return c.Created, c.QuickEnds + 1
	case c.FinishedAt.Sub(c.StartedAt) < crashLimit:
		return c.FinishedAt, c.QuickEnds + 1
	}
	return c.FinishedAt, 0
}
