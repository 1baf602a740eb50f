package watch

// Cause is what wakes the sync loop.
type Cause int

// The causes.
const (
	SET Cause = iota
	UPDATE
	Tick
	Retry
	EndOfWork
	EndOfPull
	Probe
	Person
	DockerEvent
	HostLook
)

func (c Cause) String() string {
	return [...]string{"SET", "UPDATE", "the tick", "a retry", "the end of work", "the end of a pull", "a probe", "a person", "an event of Docker", "a look at the host"}[c]
}

// Change is how the desired state of a pod has changed.
type Change int

// The changes.
const (
	Found Change = iota
	Edited
	ServicesChanged
	NoLongerWanted
)

func (c Change) String() string {
	return [...]string{"its manifest was found", "its manifest has changed", "the services of its namespace have changed", "it is no longer wanted"}[c]
}

// Decision is what the sync loop does about an idle pod.
type Decision int

// The decisions.
const (
	Keeps   Decision = iota // its containers stay as they are: it cannot be inspected, it must wait, or its outcome is final
	Asks                    // a person has to allow its plan
	Rests                   // it is as desired
	Retries                 // its steps have failed, and are tried again later
	Works                   // its worker carries out the steps that are allowed
)
