package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

// trouble is why a container does not run, or not as it should. It is also the error
// of those who know the reason of what they could not do.
type trouble struct {
	container string // empty: the pod as a whole, or not known where the error is made
	reason    string // one of api's Reason constants
	message   string
	next      time.Time // when it is tried again; zero when something else must happen first
}

func (t trouble) Error() string {
	if t.container == "" {
		return t.message
	}
	return fmt.Sprintf("container %q: %s", t.container, t.message)
}

// describe is what a person is told of several troubles.
func describe(troubles []trouble) string {
	var texts []string
	for _, t := range troubles {
		texts = append(texts, t.Error())
	}
	return strings.Join(texts, "; ")
}

// waits says that nothing has failed: it takes its time, or has its time.
func (t *trouble) waits() bool { return t.reason == api.ReasonPulling || !t.next.IsZero() }

// anyFailed says that not all troubles only wait.
func anyFailed(troubles []trouble) bool {
	return slices.ContainsFunc(troubles, func(t trouble) bool { return !t.waits() })
}

// troubleOf says what an error of an action means for its container.
func troubleOf(a *action, err error) (t trouble) {
	words := a.wordsOf(err)
	switch {
	case errors.As(err, &t): // who made the error knows better
	case a.kind == createAction && strings.Contains(words, "bind source path does not exist"):
		t = trouble{reason: api.ReasonHostDirMissing, message: "cannot be created: " + words}
	case a.kind == createAction:
		t = trouble{reason: api.ReasonCannotCreate, message: "cannot be created: " + words}
	case a.kind == startAction:
		t = trouble{reason: startReason(words), message: "could not start: " + plainWords(words)}
	default:
		t = trouble{reason: api.ReasonDocker, message: err.Error()}
	}
	t.container = a.name.Name
	return t
}

// wordsOf is what an error says, without the Docker call and the container that it
// names: those go without saying.
func (a *action) wordsOf(err error) string {
	for _, container := range []string{a.name.String(), a.id} {
		if _, words, ok := strings.Cut(err.Error(), strconv.Quote(container)+": "); ok {
			return words
		}
	}
	return err.Error()
}

// plainWords leaves out of Docker's words for a start or a command that failed which of
// its parts passed them on.
func plainWords(words string) string {
	for _, part := range []string{
		"failed to create shim task: ", "OCI runtime create failed: ", "OCI runtime exec failed: ", "runc create failed: ",
		"exec failed: ", "unable to start container process: ",
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
