package api

// PodOperation says what a PodUpdate does to the pods it is about.
type PodOperation int

// The operations of PR #356. Sources send SET alone: a full state cannot miss
// an edge.
const (
	// SET: these are all the pods there are; any other is gone.
	SET PodOperation = iota + 1
	// ADD: these pods are new.
	ADD
	// REMOVE: these pods are gone; only name and namespace are looked at.
	REMOVE
	// UPDATE: these pods were known and have changed.
	UPDATE
)

func (op PodOperation) String() string {
	switch op {
	case SET:
		return "SET"
	case ADD:
		return "ADD"
	case REMOVE:
		return "REMOVE"
	case UPDATE:
		return "UPDATE"
	}
	return "unknown operation"
}

// PodUpdate is the one message of the picture: a source sends it to the Mux,
// PodConfig sends it on to the sync loop. The receiver must not change what it
// holds.
type PodUpdate struct {
	Op   PodOperation
	Pods []Pod

	// Err is set by a source alone, and says what of it could not be read. Pods
	// then holds the last good form of what is in error; what was never read well
	// is missing. A source has spoken once it has sent one update without an
	// error, and speaks for ever after.
	Err error

	// Silent is set by PodConfig alone: every source that is configured and has
	// not spoken as of this update, with the latest reason, nil when it has sent
	// nothing at all. What a silent source wants is not known, so nothing that
	// might be its is removed. It travels with the pods, because asked for
	// separately it could be newer than they are: Kubernetes v0.8's first answer
	// was, and a tick between the two killed the pods of the source that had just
	// spoken.
	Silent map[string]error
}
