package execute

import (
	"errors"
	"strconv"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// problemOf returns the problem that an error of an action means. Most of Docker's errors have no code, so
// their text must do.
func problemOf(a plan.Action, err error) (p plan.Problem) {
	text := trimName(a, err)
	switch {
	case errors.As(err, &p):
	case a.Kind == plan.Create && dockertools.IsMountMissing(err):
		p = plan.Problem{Reason: api.ReasonHostDirMissing, Message: "cannot be created: " + text}
	case a.Kind == plan.Create:
		p = plan.Problem{Reason: api.ReasonCannotCreate, Message: "cannot be created: " + text}
	case a.Kind == plan.Start:
		p.Reason, p.Message = dockertools.StartFailure(text)
	default:
		p = plan.Problem{Reason: api.ReasonDocker, Message: err.Error()}
	}
	p.Container = a.Name.Name
	return p
}

// trimName returns the text of an error without the name of the call and of the container.
func trimName(a plan.Action, err error) string {
	for _, container := range []string{a.Name.String(), a.ID} {
		if _, text, ok := strings.Cut(err.Error(), strconv.Quote(container)+": "); ok {
			return text
		}
	}
	return err.Error()
}
