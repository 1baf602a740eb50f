package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// trouble is why a container does not run, or not as it should.
type trouble struct {
	container string // empty: the pod as a whole
	reason    string // one of api's Reason constants
	message   string
	next      time.Time       // when it is tried again; zero when something else must happen first
	done      <-chan struct{} // closed when what it waits for is over; nil when nothing is on its way
}

func (t trouble) String() string {
	if t.container == "" {
		return t.message
	}
	return fmt.Sprintf("container %q: %s", t.container, t.message)
}

// describe is what a person is told of several troubles.
func describe(troubles []trouble) string {
	var texts []string
	for _, t := range troubles {
		texts = append(texts, t.String())
	}
	return strings.Join(texts, "; ")
}

// waits says that nothing has failed: it takes its time, or has its time.
func (t *trouble) waits() bool { return t.done != nil || !t.next.IsZero() }

// anyFailed says that not all troubles only wait.
func anyFailed(troubles []trouble) bool {
	return slices.ContainsFunc(troubles, func(t trouble) bool { return !t.waits() })
}

// reasonError is an error whose reason is known where it is made.
type reasonError struct {
	error
	reason string
	next   time.Time
	done   <-chan struct{}
}

func (e *reasonError) Unwrap() error { return e.error }

// troubleOf says what an error of an action means for its container.
func troubleOf(a action, err error) trouble {
	t := trouble{container: a.name.Name, reason: reasonOf(a.kind, err), message: err.Error()}
	switch inner := errors.Unwrap(err); {
	case inner == nil:
	case a.kind == createAction:
		t.message = "cannot be created: " + inner.Error()
	case a.kind == startAction:
		t.message = "could not start: " + plainWords(inner.Error())
	}
	if known := (*reasonError)(nil); errors.As(err, &known) {
		t.reason, t.message, t.next, t.done = known.reason, known.Error(), known.next, known.done
	}
	return t
}

// reasonOf says of an error of an action which of api's reasons it is.
func reasonOf(kind actionKind, err error) string {
	switch {
	case errors.Is(err, errPrivileged):
		return api.ReasonPrivilegedRefused
	case kind == createAction && strings.Contains(err.Error(), "bind source path does not exist"):
		return api.ReasonHostDirMissing
	case kind == createAction:
		return api.ReasonCannotCreate
	case kind == startAction:
		return startReason(err.Error())
	case kind == hookAction:
		return api.ReasonHookFailed
	}
	return api.ReasonDocker
}

// plainWords leaves out of Docker's words for a start that failed which of its parts
// passed them on.
func plainWords(words string) string {
	for _, part := range []string{
		"failed to create shim task: ", "OCI runtime create failed: ", "runc create failed: ", "unable to start container process: ",
	} {
		words = strings.ReplaceAll(words, part, "")
	}
	return strings.TrimSuffix(words, ": unknown")
}

// startReason reads off Docker's words why a start failed: there is no better way
// to tell.
func startReason(words string) string {
	for _, known := range []struct{ words, reason string }{
		{"port is already allocated", api.ReasonPortTaken},
		{"address already in use", api.ReasonPortTaken},
		{"executable file not found", api.ReasonCommandNotFound},
		{"no such file or directory", api.ReasonCommandNotFound},
		{"permission denied", api.ReasonCommandNotFound},
	} {
		if strings.Contains(words, known.words) {
			return known.reason
		}
	}
	return api.ReasonCannotStart
}
