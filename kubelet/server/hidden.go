package server

import (
	"context"
	"regexp"

	"kubelet14/api"
)

// hidden is what stands where the value of an environment variable would: many of them
// are passwords.
const hidden = "(hidden)"

// discreet is a Kubelet that tells no such value by the way. What is wrong with a
// manifest is told with the lines around it, which are for who wrote it: they go to the
// log, and to nobody who only asks.
type discreet struct{ Kubelet }

func (k discreet) Statuses(ctx context.Context) ([]api.PodStatus, error) {
	statuses, err := k.Kubelet.Statuses(ctx)
	for i := range statuses {
		statuses[i].SourceError = withoutLines(statuses[i].SourceError)
	}
	return statuses, err
}

// discreetly does the same for what sources say.
func discreetly(sources func() []api.SourceStatus) func() []api.SourceStatus {
	return func() []api.SourceStatus {
		statuses := sources()
		for i := range statuses {
			statuses[i].LastError = withoutLines(statuses[i].LastError)
		}
		return statuses
	}
}

var (
	excerptLine = regexp.MustCompile(`(?m)\n(> |  ) *\d* \|.*$`)
	envProblem  = regexp.MustCompile(`(\.env\[\d+\]\.(?:name|key|value): ).*`)
)

// withoutLines takes the lines of manifests out of an error, and what is said of a
// variable's name or value, which may quote it.
func withoutLines(text string) string {
	if text == "" {
		return ""
	}
	return envProblem.ReplaceAllString(excerptLine.ReplaceAllString(text, ""), "${1}"+hidden+", the kubelet's log tells it")
}

// withoutValues copies pods, and hides the values of their environment.
func withoutValues(pods []api.Pod) []api.Pod {
	out := make([]api.Pod, len(pods))
	for i, pod := range pods {
		pod.Manifest = pod.Manifest.Clone()
		for _, c := range pod.Manifest.Containers {
			for j := range c.Env {
				c.Env[j].Value = hidden
			}
		}
		out[i] = pod
	}
	return out
}
