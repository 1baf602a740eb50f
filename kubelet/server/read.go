package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) error {
	if err := s.opts.Kubelet.Health(); err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	_, err := fmt.Fprint(w, "ok")
	return err
}

// servePods answers with what has become of every pod.
func (s *Server) servePods(w http.ResponseWriter, r *http.Request) error {
	statuses, err := s.statuses(r.Context(), askPatience)
	if err != nil {
		return err
	}
	return answerList(w, r, statuses)
}

func (s *Server) serveSources(w http.ResponseWriter, r *http.Request) error {
	return answerList(w, r, s.sources())
}

// serveEvents answers with those after ?after=N.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) error {
	after, err := eventNumber(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	newer, _ := s.opts.Kubelet.Events(after)
	return answerList(w, r, newer)
}

func eventNumber(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "after=%q: it must be the seq of an event", text)
	}
	return n, nil
}

// servePodInfo says of each container of one pod what has become of it, in the words of
// 2014: the errors are those that its clients know.
func (s *Server) servePodInfo(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	id, namespace, uid := query.Get("podID"), query.Get("podNamespace"), query.Get("UUID")
	switch {
	case id == "":
		return refuse(http.StatusBadRequest, "Missing 'podID=' query entry.")
	case namespace == "":
		return refuse(http.StatusBadRequest, "Missing 'podNamespace=' query entry.")
	}
	pod, err := s.find(r.Context(), namespace, id, uid)
	if isStatus(err, http.StatusNotFound) {
		return refuse(http.StatusNotFound, "api.BoundPod does not exist")
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

// serveBoundPods answers with the pods that are wanted, of all sources. With ?env=1 it
// gives the values of their environment to who may run commands: such a client could
// read them in the container too.
func (s *Server) serveBoundPods(w http.ResponseWriter, r *http.Request) error {
	env, err := boolArgument(r, "env", false)
	if err != nil {
		return err
	}
	pods := s.opts.Kubelet.Pods()
	switch {
	case !env:
		pods = withoutValues(pods)
	case !s.opts.Debugging:
		return s.deny("token", http.StatusForbidden, "env=1 is not for this kubelet: it has -enable_debugging_handlers=false")
	default:
		if err := s.check(w, r, running); err != nil {
			return err
		}
	}
	return s.answerEncoded(w, r, &api.BoundPods{Items: pods})
}

// answerEncoded sends what obj points to as 2014 would.
func (s *Server) answerEncoded(w http.ResponseWriter, r *http.Request, obj any) error {
	text, err := s.opts.Scheme.Encode(v1beta1.Version, obj)
	if err != nil {
		return err
	}
	return answerJSON(w, r, json.RawMessage(text))
}
