package server

import (
	"net/http"
	"strconv"

	"kubelet14/api"
)

// serveContainerLogs answers with the output of a container. To follow sends the status at once, before the container
// prints anything; otherwise it comes with the first byte, so that an error can have a status of its own.
func (s *Server) serveContainerLogs(w http.ResponseWriter, r *http.Request) error {
	opts, err := logOptions(r)
	if err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	out, err := newStream(w, r)
	if err != nil {
		return err
	}
	defer out.close()
	if r.Method == http.MethodHead {
		return nil
	}
	if opts.Follow {
		if err := out.begin(); err != nil {
			return nil // the client is gone
		}
	}
	return out.end(s.opts.Kubelet.ContainerLogs(r.Context(), pod, container, opts, out))
}

// logOptions reads the query: everything that is kept, unless it says otherwise.
func logOptions(r *http.Request) (api.LogOptions, error) {
	opts := api.LogOptions{Tail: -1}
	if text := r.URL.Query().Get("tail"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return opts, httpErrorf(http.StatusBadRequest, "tail=%q: it must be a number of lines, 0 or more; leave it out for all lines", text)
		}
		opts.Tail = int(n)
	}
	for name, value := range map[string]*bool{"follow": &opts.Follow, "timestamps": &opts.Timestamps, "previous": &opts.Previous} {
		var err error
		if *value, err = boolParam(r, name, false); err != nil {
			return opts, err
		}
	}
	for name, value := range map[string]*bool{"stdout": &opts.Stdout, "stderr": &opts.Stderr} {
		var err error
		if *value, err = boolParam(r, name, true); err != nil {
			return opts, err
		}
	}
	switch {
	case !opts.Stdout && !opts.Stderr:
		return opts, httpErrorf(http.StatusBadRequest, "stdout=0 and stderr=0 leave nothing: leave one of them out")
	case opts.Previous && opts.Follow:
		return opts, httpErrorf(http.StatusBadRequest, "previous=1 and follow=1 exclude each other: the previous attempt prints nothing more")
	}
	return opts, nil
}
