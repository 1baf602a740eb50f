package kubelet

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/plan"
)

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

// tellProblems tells each problem that is new or has changed. That
// an image cannot be pulled is one problem, of however many containers and tries.
func (kl *Kubelet) tellProblems(p *podRecord) {
	logged := map[string]string{}
	seen := p.Pod
	if p.asks() { // which hides what is wrong
		seen.Wait = plan.Problem{}
	}
	for _, problem := range seen.Problems() {
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
		if !seen.Waits() || seen.Desired != nil { // else see logHeld
			kl.watcher.Problem(&seen, problem)
		}
	}
	p.loggedProblems = logged
	if len(logged) > 0 {
		p.stateLogged = ""
	}
}

// logState logs the state of a pod that needs no action, once after the last action or problem, and once more when it is ready.
func (kl *Kubelet) logState(p *podRecord) {
	const notReady = "is up, not ready yet"
	logged := p.stateLogged != "" && p.stateLogged != notReady
	if logged || p.work != nil || p.Err != nil || p.Waits() || len(p.Plan.Steps)+len(p.Plan.Problems) > 0 {
		return
	}
	status := kl.status(&p.Pod)
	state := map[api.PodPhase]string{api.PodRunning: "is up", api.PodSucceeded: "has done its work"}[status.Phase]
	if status.Phase == api.PodRunning && !status.Ready {
		state = notReady
	}
	if state != "" && state != p.stateLogged {
		glog.Infof("pod %s %s", p.Name, state)
	}
	p.stateLogged = state
}

// logHeld warns once of each source whose pods are held, except of one that has sent nothing yet.
func (kl *Kubelet) logHeld() {
	pods, why := map[string]int{}, map[string]string{} // by source
	for name, p := range kl.pods {
		_, _, source := api.SplitFullName(name)
		if err, unsynced := kl.desired.unsynced[source]; p.Desired == nil && p.Waits() && (err != nil || !unsynced) {
			pods[source]++
			why[source] = p.Wait.Message
		}
	}
	for source, n := range pods {
		text := fmt.Sprintf("%s that no manifest names: %s", api.Count(n, "pod"), why[source])
		if last, _ := kl.logged.Swap("held pods of source "+source, text); last != text {
			glog.Warning(text)
		}
	}
}
