package server

import (
	"fmt"
	"net/http"
	"slices"

	"kubelet14/api"
)

// serveStop stops a pod until it is started again, and answers when none of its containers runs. It stays stopped, also if the client
// does not wait.
func (s *Server) serveStop(w http.ResponseWriter, r *http.Request) error {
	return s.serveWish(w, r, s.opts.Wishes.Stop, func(p *api.PodStatus, _ bool) bool { return p.Phase == api.PodStopped })
}

// serveStart starts a pod that is stopped, and answers when it is up or failing.
func (s *Server) serveStart(w http.ResponseWriter, r *http.Request) error {
	pod, err := s.findPod(r, "", r.PathValue("pod"), "")
	if err != nil {
		return err
	}
	if !s.opts.Wishes.IsStopped(pod.FullName()) {
		_, err = fmt.Fprintf(w, "pod %s is not stopped: it is %s; kubelet14 restart starts it anew\n", pod.FullName(), pod.Phase)
		return err
	}
	return s.serveRestart(w, r)
}

// serveRestart starts a pod anew, and answers when it is up or failing.
func (s *Server) serveRestart(w http.ResponseWriter, r *http.Request) error {
	return s.serveWish(w, r, s.opts.Wishes.Restart, func(p *api.PodStatus, restarting bool) bool {
		return !restarting && p.Phase != api.PodPending
	})
}

// serveWish makes a wish for a pod, and answers when it is fulfilled, or when the pod as a whole must wait.
func (s *Server) serveWish(w http.ResponseWriter, r *http.Request, wish func(podFullName, by string) error, fulfilled func(p *api.PodStatus, restarting bool) bool) error {
	pod, err := s.findPod(r, "", r.PathValue("pod"), "")
	if err != nil {
		return err
	}
	name := pod.FullName()
	if pod.Phase == api.PodRemoving {
		return httpErrorf(http.StatusConflict, "pod %s is no longer wanted, and is being removed", name)
	}
	clearDeadlines(w)
	if err := wish(name, r.URL.Query().Get("by")); err != nil {
		return err
	}
	for {
		restarting := s.opts.Wishes.IsRestarting(name) // before the statuses, which may else be older
		pods, newer, err := s.opts.Kubelet.Statuses()
		if err != nil {
			return httpErrorf(http.StatusServiceUnavailable, "it is remembered, and done when Docker answers: %v", err)
		}
		i := slices.IndexFunc(pods, func(p api.PodStatus) bool { return p.FullName() == name })
		switch {
		case i < 0:
			return httpErrorf(http.StatusNotFound, "pod %s has been removed", name)
		case fulfilled(&pods[i], restarting) && !pods[i].Up():
			return httpErrorf(http.StatusConflict, "pod %s is %s (%s): kubelet14 describe %[1]s says why", name, pods[i].Phase, pods[i].ShortReason())
		case fulfilled(&pods[i], restarting):
			_, err := fmt.Fprintf(w, "pod %s is %s\n", name, pods[i].Phase)
			return err
		case pods[i].Reason != "" && pods[i].Reason != api.ReasonDocker: // a slow Docker is asked again
			return httpErrorf(http.StatusConflict, "it is remembered; pod %s waits: %s", name, api.OneLine(Join(pods[i].Reason, pods[i].Message)))
		}
		if restarting && !s.opts.Wishes.IsRestarting(name) {
			continue // the restart has begun since the look at it
		}
		select {
		case <-newer:
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}
