package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

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

func (s *Server) servePods(w http.ResponseWriter, r *http.Request) error {
	pods, err := s.statuses()
	if err != nil {
		return err
	}
	return answerList(w, r, pods)
}

func (s *Server) serveSources(w http.ResponseWriter, r *http.Request) error {
	return answerList(w, r, s.sources())
}

func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) error {
	var after uint64
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			return httpErrorf(http.StatusBadRequest, "after=%q: it must be the seq of an event", text)
		}
	}
	events, _ := s.opts.Kubelet.Events(after)
	return answerList(w, r, events)
}

// servePodInfo answers with the containers of one pod as 2014 did, with the errors that its clients know.
func (s *Server) servePodInfo(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	name, namespace := query.Get("podID"), query.Get("podNamespace")
	switch {
	case name == "":
		return httpErrorf(http.StatusBadRequest, "Missing 'podID=' query entry.")
	case namespace == "":
		return httpErrorf(http.StatusBadRequest, "Missing 'podNamespace=' query entry.")
	}
	pod, err := s.findPod(namespace, name, query.Get("UUID"))
	if err, ok := err.(*httpError); ok && err.status == http.StatusNotFound {
		err.text = "api.BoundPod does not exist"
	}
	if err != nil {
		return err
	}
	info := api.PodInfo{}
	for _, c := range pod.Containers {
		info[c.Name] = c
	}
	return s.answerEncoded(w, r, &info)
}

const hidden = "(hidden)"

// serveBoundPods answers with the desired pods as 2014 did. The values of environment variables are hidden, since many are
// passwords; ?env=1 shows them to clients that may run commands, which could read them in the container.
func (s *Server) serveBoundPods(w http.ResponseWriter, r *http.Request) error {
	env, err := boolParam(r, "env", false)
	if err != nil {
		return err
	}
	bound := api.BoundPods{Items: append([]api.Pod(nil), s.opts.Kubelet.Pods()...)}
	switch {
	case !env:
		for i := range bound.Items {
			hideEnv(&bound.Items[i])
		}
	case !s.opts.Debugging:
		return s.deny("token", http.StatusForbidden, "env=1 is off: this kubelet has -enable_debugging_handlers=false")
	default:
		if err := s.checkAccess(w, r, running); err != nil {
			return err
		}
	}
	return s.answerEncoded(w, r, &bound)
}

func hideEnv(pod *api.Pod) {
	pod.Manifest = pod.Manifest.Clone()
	for _, c := range pod.Manifest.Containers {
		for i := range c.Env {
			c.Env[i].Value = hidden
		}
	}
}

// answerEncoded sends what obj points to in the API version of 2014.
func (s *Server) answerEncoded(w http.ResponseWriter, r *http.Request, obj any) error {
	text, err := s.opts.Scheme.Encode(v1beta1.Version, obj)
	if err != nil {
		return err
	}
	return answerJSON(w, r, json.RawMessage(text))
}
