package server

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) error {
	if err := s.opts.Kubelet.Health(); err != nil {
		return httpErrorf(http.StatusServiceUnavailable, "%v", err)
	}
	_, err := io.WriteString(w, "ok")
	return err
}

func (s *Server) pods(r *http.Request) (any, error) {
	pods, err := s.statuses(r)
	return list(pods), err
}

func (s *Server) sources(*http.Request) (any, error) { return list(s.opts.Sources()), nil }

func (s *Server) events(r *http.Request) (any, error) {
	text := cmp.Or(r.URL.Query().Get("after"), "0")
	after, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, httpErrorf(http.StatusBadRequest, "after=%q: it must be the seq of an event", text)
	}
	return list(s.kubeletFor(r).Events(after)), nil
}

// podInfo returns the containers of one pod as in 2014, or the errors that clients of 2014 know. Those of v0.4 give no namespace.
func (s *Server) podInfo(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("podID") == "" {
		return nil, httpErrorf(http.StatusBadRequest, "Missing 'podID=' query entry.")
	}
	pod, err := s.findPod(r, query.Get("podNamespace"), query.Get("podID"), query.Get("UUID"))
	if err, ok := err.(*httpError); ok && err.status == http.StatusNotFound {
		err.text = "api.BoundPod does not exist"
	}
	if err != nil {
		return nil, err
	}
	info := api.PodInfo{}
	for _, c := range pod.Containers {
		info[c.Name] = c
	}
	return s.encode(&info)
}

const hidden = "(hidden)"

// boundPods returns the desired pods as in 2014. The values of environment variables are hidden, since many are passwords;
// ?env=1 shows them to clients that may run commands, which could read them in the container.
func (s *Server) boundPods(r *http.Request) (any, error) {
	env, err := boolParam(r, "env", false)
	if env && !s.opts.Debugging {
		err = s.deny("token", http.StatusForbidden, "env=1 is off: this kubelet has -enable_debugging_handlers=false")
	} else if env {
		err = s.checkAccess(r, running)
	}
	if err != nil {
		return nil, err
	}
	bound := api.BoundPods{Items: slices.Clone(s.opts.Kubelet.Pods())}
	for i := 0; !env && i < len(bound.Items); i++ {
		bound.Items[i].Manifest = bound.Items[i].Manifest.Clone()
		for _, c := range bound.Items[i].Manifest.Containers {
			for j := range c.Env {
				c.Env[j].Value = hidden
			}
		}
	}
	return s.encode(&bound)
}

// encode returns what obj points to in the API version of 2014.
func (s *Server) encode(obj any) (any, error) {
	text, err := s.opts.Scheme.Encode(v1beta1.Version, obj)
	return json.RawMessage(text), err
}

// statuses returns the statuses of all pods as a client may see them, or 503 while Docker does not answer.
func (s *Server) statuses(r *http.Request) ([]api.PodStatus, error) {
	pods, _, err := s.kubeletFor(r).Statuses()
	if err != nil {
		return nil, httpErrorf(http.StatusServiceUnavailable, "%v", err)
	}
	return pods, nil
}

// findPod returns the pod with a name, NAME.NAMESPACE or full name, of any source; an empty namespace or uid matches all. Several pods of
// one name are a conflict, which a full name resolves.
func (s *Server) findPod(r *http.Request, namespace, name, uid string) (pod api.PodStatus, err error) {
	pods, err := s.statuses(r)
	if err != nil {
		return pod, err
	}
	named := api.PodsNamed(slices.DeleteFunc(pods, func(p api.PodStatus) bool {
		return namespace != "" && p.Namespace != namespace || uid != "" && p.UID != uid
	}), name)
	switch len(named) {
	case 0:
		return pod, httpErrorf(http.StatusNotFound, "there is no pod %q (namespace %q, UID %q)", name, cmp.Or(namespace, "any"), cmp.Or(uid, "any"))
	case 1:
		return named[0], nil
	}
	var fullNames []string
	for _, p := range named {
		fullNames = append(fullNames, p.FullName())
	}
	return pod, httpErrorf(http.StatusConflict, "several pods are named %q: use one of the full names %s", name, strings.Join(fullNames, ", "))
}

// findContainer returns the full name of the pod and the container that the path of a request names.
func (s *Server) findContainer(r *http.Request) (podFullName, container string, err error) {
	pod, err := s.findPod(r, r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("uid"))
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
	return "", "", httpErrorf(http.StatusNotFound, "pod %s has no container %q: it has %s",
		pod.FullName(), container, strings.Join(names, ", "))
}
