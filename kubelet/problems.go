package kubelet

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/plan"
)

// problemOf returns what an error of an action means for its container. Docker's errors
// have no codes for most of it, so the text must do.
func problemOf(a plan.Action, err error) (p plan.Problem) {
	text := trimName(a, err)
	switch {
	case errors.As(err, &p):
	case a.Kind == plan.Create && isMountMissing(err):
		p = plan.Problem{Reason: api.ReasonHostDirMissing, Message: "cannot be created: " + text}
	case a.Kind == plan.Create:
		p = plan.Problem{Reason: api.ReasonCannotCreate, Message: "cannot be created: " + text}
	case a.Kind == plan.Start:
		p.Reason, p.Message = plan.StartFailure(text)
	default:
		p = plan.Problem{Reason: api.ReasonDocker, Message: err.Error()}
	}
	p.Container = a.Name.Name
	return p
}

// isMountMissing reports whether Docker refuses a container because a directory that it mounts is not there.
func isMountMissing(err error) bool {
	return strings.Contains(err.Error(), "bind source path does not exist")
}

// trimName returns the text of an error without the Docker call and the container, which
// the reader knows.
func trimName(a plan.Action, err error) string {
	for _, container := range []string{a.Name.String(), a.ID} {
		if _, text, ok := strings.Cut(err.Error(), strconv.Quote(container)+": "); ok {
			return text
		}
	}
	return err.Error()
}

// isFailure reports whether a problem is a failure, and neither a pull nor a wait for a time.
func isFailure(p plan.Problem) bool {
	return p.RetryAt.IsZero() && p.Reason != api.ReasonPulling && p.Reason != api.ReasonNeverRestarted
}

// joinProblems returns the problems as one line.
func joinProblems(problems []plan.Problem) string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return strings.Join(texts, "; ")
}

// id matches the id of a container, a layer, its link or an image. Docker's error about the same problem may have another one each time.
var id = regexp.MustCompile(`\b[0-9A-Z]{26}\b|[0-9a-f]{12,}`)

// logProblems logs each problem that is new or has changed, and records an event for it. That
// an image cannot be pulled is one problem, of however many containers and tries.
func (kl *Kubelet) logProblems(p *podRecord) {
	logged := map[string]string{}
	for _, problem := range p.problems() {
		key, text := problem.Container, id.ReplaceAllString(problem.Message, "…")
		if pull, _, failed := strings.Cut(text, images.NextPull); failed {
			key, text, problem.Container = pull, pull, ""
		}
		for key, text := range p.loggedProblems {
			if problem.Reason == api.ReasonPulling && key == text { // a pull is tried again: its failure stays logged
				logged[key] = text
			}
		}
		known := p.loggedProblems[key] == text || logged[key] == text
		if logged[key] = text; known {
			continue
		}
		switch {
		case p.waits() && p.pod == nil: // see logHeld
			continue
		case p.waits():
			glog.Warningf("pod %s waits: %v", p.name, problem)
		case isFailure(problem):
			glog.Errorf("%s: %v", p.label(), problem)
		case problem.Reason == api.ReasonPulling: // the pull is logged itself
			glog.V(2).Infof("pod %s: %v", p.name, problem)
		default:
			glog.Warningf("pod %s: %v", p.name, problem)
		}
		kl.events.add(p.name, problem.Container, problem.Reason, problem.Message)
	}
	p.loggedProblems = logged
	if len(logged) > 0 {
		p.stateLogged = ""
	}
}
