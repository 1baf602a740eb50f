package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// find is the one pod that a request names, of whatever source. In 2014 only those of
// etcd could be found. Its name may be a full name, which tells pods of one name apart
// that come from several sources; an empty uid leaves that open.
func (s *Server) find(ctx context.Context, namespace, name, uid string) (*api.PodStatus, error) {
	statuses, err := s.statuses(ctx, askPatience)
	if err != nil {
		return nil, err
	}
	named := slices.DeleteFunc(statuses, func(p api.PodStatus) bool {
		return p.Namespace != namespace || p.Name != name && p.FullName() != name || uid != "" && p.UID != uid
	})
	// A full name is one pod's, though another may have it as its name.
	if i := slices.IndexFunc(named, func(p api.PodStatus) bool { return p.FullName() == name }); i >= 0 {
		return &named[i], nil
	}
	switch {
	case len(named) == 0 && uid != "":
		return nil, refuse(http.StatusNotFound, "there is no pod %q with UID %q in namespace %q", name, uid, namespace)
	case len(named) == 0:
		return nil, refuse(http.StatusNotFound, "there is no pod %q in namespace %q", name, namespace)
	case len(named) > 1:
		var names []string
		for i := range named {
			names = append(names, named[i].FullName())
		}
		return nil, refuse(http.StatusConflict, "several pods are named %q: say which by its full name: %s", name, strings.Join(names, ", "))
	}
	return &named[0], nil
}

// How long Docker is waited for. A request to it may take longer than any client waits,
// and longer than an answer may take (writeTimeout).
const (
	lookPatience = 5 * time.Second  // by the page, and a scrape, which say the rest without it
	askPatience  = 20 * time.Second // by who asks for nothing else
)

// patiently asks what Docker may have to answer.
func patiently[T any](ctx context.Context, patience time.Duration, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, refuse(http.StatusServiceUnavailable, "no answer from Docker within %v", patience))
	defer cancel()
	answer, err := ask(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return answer, err
}

// findContainer is the one container of one pod that the path of a request names.
func (s *Server) findContainer(r *http.Request) (podFullName, container string, err error) {
	pod, err := s.find(r.Context(), cmp.Or(r.PathValue("namespace"), api.NamespaceDefault), r.PathValue("pod"), r.PathValue("uid"))
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
	return "", "", refuse(http.StatusNotFound, "pod %s has no container %q: it has %s", pod.FullName(), container, strings.Join(names, ", "))
}
