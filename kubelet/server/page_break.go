package server

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/step"
)

const breakTimeout = 20 * time.Second

// manifests returns the place of the manifests that are files.
func (p *page) manifests() string {
	i := slices.IndexFunc(p.SourceList, func(s api.SourceStatus) bool { return s.Source == "file" })
	if i < 0 {
		return ""
	}
	return p.SourceList[i].Place
}

// serveBreak runs one of the commands that the page offers at this moment (flag -step), and no other.
func (s *Server) serveBreak(w http.ResponseWriter, r *http.Request) error {
	if s.opts.Step == nil {
		return httpErrorf(http.StatusNotFound, "nothing is broken here: the kubelet was started without -step")
	}
	var body struct{ Command string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return httpErrorf(http.StatusBadRequest, `the body must be {"command": …}`)
	}
	offered := s.look(s.opts.Kubelet).Breaks
	i := slices.IndexFunc(offered, func(b step.Break) bool { return b.String() == body.Command })
	if i < 0 {
		return httpErrorf(http.StatusConflict, "this is offered no more: look at the page again")
	}
	ctx, cancel := context.WithTimeout(r.Context(), breakTimeout)
	defer cancel()
	if out, err := exec.CommandContext(ctx, offered[i].Args[0], offered[i].Args[1:]...).CombinedOutput(); err != nil {
		return httpErrorf(http.StatusBadGateway, "%s: %v: %s", body.Command, err, out)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
