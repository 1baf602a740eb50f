package watch

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/images"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/status"
)

// News finds what is new after a sync: each problem of a pod once, and that a pod is up. It tells the Watcher of the problems.
// What only the log has, such as that a pod is up, it logs itself. Only the sync loop uses it.
type News struct {
	Watcher Watcher
	pods    map[string]told   // by full name
	held    map[string]string // what was told of the pods of a source that are held
}

// told is what was told of a pod.
type told struct {
	problems map[string]string // the message by container
	state    string            // since the last work or problem
}

// id matches the id of a container, a layer, its link or an image. Docker's error about the same problem may have another one each time.
var id = regexp.MustCompile(`\b[0-9A-Z]{26}\b|[0-9a-f]{12,}`)

// Problems tells each problem of a pod that is new or has changed. That an image cannot be pulled is one problem, of however
// many containers and tries.
func (n *News) Problems(p status.Pod) {
	if p.Wait.Reason == api.ReasonWaitsForStep { // which hides what is wrong
		p.Wait = plan.Problem{}
	}
	before, now := n.pods[p.Name], map[string]string{}
	for _, problem := range p.Problems() {
		key, text := problem.Container, id.ReplaceAllString(problem.Message, "…")
		if pull, _, failed := strings.Cut(text, images.NextPull); failed {
			key, text, problem.Container = pull, pull, ""
		}
		for key, text := range before.problems {
			if problem.Reason == api.ReasonPulling && key == text { // a pull is tried again: its failure is known
				now[key] = text
			}
		}
		known := before.problems[key] == text || now[key] == text
		now[key] = text
		if !known && (!p.Waits() || p.Desired != nil) { // else see Held
			n.Watcher.Problem(&p, problem)
		}
	}
	if len(now) > 0 {
		before.state = ""
	}
	n.set(p.Name, told{now, before.state})
}

// Works forgets the state of a pod whose worker begins.
func (n *News) Works(podFullName string) { n.set(podFullName, told{n.pods[podFullName].problems, ""}) }

// State logs the state of a pod whose worker is idle if it needs no action: once after the last work or problem, and once more
// when it is ready.
func (n *News) State(p *status.Pod, of func(*status.Pod) api.PodStatus) {
	const notReady = "is up, not ready yet"
	before := n.pods[p.Name]
	if before.state != "" && before.state != notReady || p.Err != nil || p.Waits() || len(p.Plan.Steps)+len(p.Plan.Problems) > 0 {
		return
	}
	now := of(p)
	state := map[api.PodPhase]string{api.PodRunning: "is up", api.PodSucceeded: "has done its work", api.PodStopped: "is stopped"}[now.Phase]
	if now.Phase == api.PodRunning && !now.Ready {
		state = notReady
	}
	if state != "" && state != before.state {
		glog.Infof("pod %s %s", p.Name, state)
	}
	n.set(p.Name, told{before.problems, state})
}

func (n *News) set(podFullName string, t told) {
	if n.pods == nil {
		n.pods = map[string]told{}
	}
	if n.pods[podFullName] = t; len(t.problems) == 0 && t.state == "" {
		delete(n.pods, podFullName)
	}
}

// Gone logs that nothing of a pod is left.
func (n *News) Gone(podFullName string) {
	glog.Infof("pod %s is gone", podFullName)
	delete(n.pods, podFullName)
}

// Held warns once of each source whose pods are held. The sources that are not ready are given with their error; one that has
// sent nothing yet has none, and is left out.
func (n *News) Held(pods []*status.Pod, unsynced map[string]error) {
	count, why := map[string]int{}, map[string]string{} // by source
	for _, p := range pods {
		_, _, source := api.SplitFullName(p.Name)
		if err, notReady := unsynced[source]; p.Desired == nil && p.Waits() && (err != nil || !notReady) {
			count[source]++
			why[source] = p.Wait.Message
		}
	}
	for source, pods := range count {
		text := fmt.Sprintf("%s that no manifest names: %s", api.Count(pods, "pod"), why[source])
		if n.held[source] != text {
			glog.Warning(text)
		}
		if n.held == nil {
			n.held = map[string]string{}
		}
		n.held[source] = text
	}
}
