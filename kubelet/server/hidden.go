package server

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"kubelet14/api"
)

// hidden is what stands where the value of an environment variable would: many of them
// are passwords.
const hidden = "(hidden)"

// statuses says of every pod what has become of it, unless Docker is away. Like sources
// it tells no such value by the way: what is wrong with a manifest is told with the lines
// around it, which are for who wrote it, so they go to the log and to nobody who asks.
func (s *Server) statuses(ctx context.Context, patience time.Duration) ([]api.PodStatus, error) {
	statuses, err := patiently(ctx, patience, func(context.Context) ([]api.PodStatus, error) {
		statuses, _, err := s.opts.Kubelet.Statuses()
		return statuses, err
	})
	if err != nil {
		return nil, refuse(http.StatusServiceUnavailable, "%v", err)
	}
	for i := range statuses {
		statuses[i].SourceError = withoutLines(statuses[i].SourceError)
	}
	return statuses, nil
}

// sources says how each source does.
func (s *Server) sources() []api.SourceStatus {
	statuses := s.opts.Sources()
	for i := range statuses {
		statuses[i].LastError = withoutLines(statuses[i].LastError)
	}
	return statuses
}

var (
	excerptLine = regexp.MustCompile(`(?m)\n(> |  ) *\d* \|.*$`)
	envProblem  = regexp.MustCompile(`(\.env\[\d+\]\.(?:(?:name|key|value): )?).*`)
)

// withoutLines takes the lines of manifests out of an error, and what is said of a
// variable's name or value, which may quote it. A field that is none may be a piece of
// a value: {name: PASSWORD, value: open,sesame} has a field "sesame".
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
