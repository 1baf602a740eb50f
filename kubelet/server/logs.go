package server

import (
	"net/http"
	"strconv"

	"kubelet14/api"
)

// serveContainerLogs answers with what a container has printed. A log that is followed
// has its status at once, so that the client sees that it stands before the container
// says anything; any other has it with the first byte, so that an error can still be
// one.
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
	defer out.leave()
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

// logOptions reads what of a log is wanted: all that is kept, unless the request says
// otherwise.
func logOptions(r *http.Request) (api.LogOptions, error) {
	opts := api.LogOptions{Tail: -1}
	if text := r.URL.Query().Get("tail"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return opts, refuse(http.StatusBadRequest, "tail=%q: it must be a number of lines, 0 or more; leave it out for all that is kept", text)
		}
		opts.Tail = int(n)
	}
	for _, argument := range []struct {
		name      string
		value     *bool
		otherwise bool
	}{
		{"follow", &opts.Follow, false}, {"timestamps", &opts.Timestamps, false}, {"previous", &opts.Previous, false},
		{"stdout", &opts.Stdout, true}, {"stderr", &opts.Stderr, true},
	} {
		var err error
		if *argument.value, err = boolArgument(r, argument.name, argument.otherwise); err != nil {
			return opts, err
		}
	}
	switch {
	case !opts.Stdout && !opts.Stderr:
		return opts, refuse(http.StatusBadRequest, "stdout=0 and stderr=0 leave nothing: leave one of them out")
	case opts.Previous && opts.Follow:
		return opts, refuse(http.StatusBadRequest, "previous=1 and follow=1 exclude each other: the attempt before has ended, and prints no more")
	}
	return opts, nil
}
