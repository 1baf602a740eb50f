package server

import (
	"fmt"
	"net/http"
	"strconv"
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
	statuses, err := s.statuses(r.Context())
	if err != nil {
		return err
	}
	return answerList(w, r, statuses)
}

func (s *Server) serveSources(w http.ResponseWriter, r *http.Request) error {
	return answerList(w, r, s.opts.Sources())
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
