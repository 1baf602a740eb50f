package server

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"kubelet14/api"
)

// statuses returns the statuses of all pods, or 503 while Docker does not answer.
func (s *Server) statuses() ([]api.PodStatus, error) {
	pods, _, err := s.opts.Kubelet.Statuses()
	if err != nil {
		return nil, httpErrorf(http.StatusServiceUnavailable, "%v", err)
	}
	return withoutExcerpts(pods), nil
}

func withoutExcerpts(pods []api.PodStatus) []api.PodStatus {
	pods = slices.Clone(pods)
	for i := range pods {
		pods[i].SourceError = withoutExcerpt(pods[i].SourceError)
	}
	return pods
}

func (s *Server) sources() []api.SourceStatus {
	sources := slices.Clone(s.opts.Sources())
	for i := range sources {
		sources[i].LastError = withoutExcerpt(sources[i].LastError)
	}
	return sources
}

var (
	excerptLine = regexp.MustCompile(`(?m)\n(> |  ) *\d* \|.*$`)
	envProblem  = regexp.MustCompile(`(\.env\[\d+\]\.(?:(?:name|key|value): )?).*`)
)

// withoutExcerpt removes the lines of a manifest from its error, and the text about an environment variable, which may
// quote its value.
func withoutExcerpt(text string) string {
	return envProblem.ReplaceAllString(excerptLine.ReplaceAllString(text, ""), "${1}"+hidden+", the kubelet's log shows it")
}

// findPod returns the pod with a name or full name, of any source; an empty uid matches every UID. Several pods of one
// name are a conflict, which a full name resolves.
func (s *Server) findPod(namespace, name, uid string) (*api.PodStatus, error) {
	pods, err := s.statuses()
	if err != nil {
		return nil, err
	}
	pods = slices.DeleteFunc(pods, func(p api.PodStatus) bool {
		return p.Namespace != namespace || p.Name != name && p.FullName() != name || uid != "" && p.UID != uid
	})
	// The name of one pod may be the full name of another.
	if i := slices.IndexFunc(pods, func(p api.PodStatus) bool { return p.FullName() == name }); i >= 0 {
		return &pods[i], nil
	}
	switch {
	case len(pods) == 0 && uid != "":
		return nil, httpErrorf(http.StatusNotFound, "there is no pod %q with UID %q in namespace %q", name, uid, namespace)
	case len(pods) == 0:
		return nil, httpErrorf(http.StatusNotFound, "there is no pod %q in namespace %q", name, namespace)
	case len(pods) > 1:
		var names []string
		for i := range pods {
			names = append(names, pods[i].FullName())
		}
		return nil, httpErrorf(http.StatusConflict, "several pods are named %q: use one of the full names %s", name, strings.Join(names, ", "))
	}
	return &pods[0], nil
}

// findContainer returns the full name of the pod and the container that the path of a request names.
func (s *Server) findContainer(r *http.Request) (podFullName, container string, err error) {
	pod, err := s.findPod(cmp.Or(r.PathValue("namespace"), api.NamespaceDefault), r.PathValue("pod"), r.PathValue("uid"))
	if err != nil {
		return "", "", err
	}
	container = r.PathValue("container")
	var names []string
	for _, c := range pod.Containers {
		if c.Name == container {
			return pod.FullName(), container, nil
		}
		names = append(names, c.Name)
	}
	return "", "", httpErrorf(http.StatusNotFound, "pod %s has no container %q: it has %s", pod.FullName(), container, strings.Join(names, ", "))
}
