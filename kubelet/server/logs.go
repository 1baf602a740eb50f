package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/golang/glog"

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
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	defer out.close()
	if opts.Follow {
		out.begin()
	}
	return out.end(s.opts.Kubelet.ContainerLogs(r.Context(), pod, container, opts, out))
}

// logOptions reads the query: everything that is kept, unless it says otherwise.
func logOptions(r *http.Request) (api.LogOptions, error) {
	var errs []error
	param := func(name string, otherwise bool) bool {
		value, err := boolParam(r, name, otherwise)
		errs = append(errs, err)
		return value
	}
	opts := api.LogOptions{
		Tail: -1, Follow: param("follow", false), Timestamps: param("timestamps", false), Previous: param("previous", false),
		Stdout: param("stdout", true), Stderr: param("stderr", true),
	}
	if text := r.URL.Query().Get("tail"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return opts, httpErrorf(http.StatusBadRequest, "tail=%q: it must be a number of lines, 0 or more; leave it out for all lines", text)
		}
		opts.Tail = int(n)
	}
	switch {
	case !opts.Stdout && !opts.Stderr:
		return opts, httpErrorf(http.StatusBadRequest, "stdout=0 and stderr=0 leave nothing: leave one of them out")
	case opts.Previous && opts.Follow:
		return opts, httpErrorf(http.StatusBadRequest, "previous=1 and follow=1 exclude each other: the previous attempt prints nothing more")
	}
	return opts, errors.Join(errs...)
}

// stream is a text answer without a time limit. Each write is flushed. It is not safe for concurrent use.
type stream struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	close   func() bool // to call at the end
	begun   bool        // the status is sent
}

// newStream returns a stream. When its request is canceled, what is still to be written gets a time limit: a client that does
// not read must not delay the killing of its command when the server stops.
func newStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	s := &stream{w: w, r: r, control: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	err := clearDeadlines(w)
	s.close = context.AfterFunc(r.Context(), func() { _ = s.control.SetWriteDeadline(time.Now().Add(lastWriteTimeout)) })
	return s, err
}

// clearDeadlines lifts the time limits of a request.
func clearDeadlines(w http.ResponseWriter) error {
	control := http.NewResponseController(w)
	return errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))
}

// begin sends the status before the first write. An error is that of a later write, too.
func (s *stream) begin() {
	if !s.begun {
		s.begun = true
		s.w.WriteHeader(http.StatusOK)
		_ = s.control.Flush()
	}
}

func (s *stream) Write(piece []byte) (int, error) {
	if len(piece) == 0 {
		return 0, nil
	}
	s.begun = true
	if n, err := s.w.Write(piece); err != nil {
		return n, err
	}
	return len(piece), s.control.Flush()
}

// end reports an error to the client: before the first write as an HTTP status, which it returns, later as a last line.
func (s *stream) end(err error) error {
	if err == nil || !s.begun {
		return err
	}
	if !errors.Is(err, api.ErrNotFound) && s.r.Context().Err() == nil {
		glog.Warningf("info server: %s: %v", s.r.Pattern, err)
	}
	_, _ = fmt.Fprintf(s, "\nkubelet14: %s\n", oneLine(err.Error()))
	return nil
}
