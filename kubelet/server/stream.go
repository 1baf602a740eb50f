package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// stream is a text answer without a time limit. Each write is flushed. It is not safe for concurrent use.
type stream struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	close   func() bool // to call at the end
	begun   bool        // the status is sent
	midLine bool        // the last write did not end with a newline
}

func newStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	if err := clearDeadlines(w); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s := &stream{w: w, r: r, control: http.NewResponseController(w)}
	s.close = context.AfterFunc(r.Context(), s.limitWrites)
	return s, nil
}

// clearDeadlines lifts the time limits of a request.
func clearDeadlines(w http.ResponseWriter) error {
	control := http.NewResponseController(w)
	return errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))
}

// limitWrites sets a time limit for what is still to be written, once the request is canceled: when the server stops, a
// client that does not read must not delay the killing of its command.
func (s *stream) limitWrites() { _ = s.control.SetWriteDeadline(time.Now().Add(lastWriteTimeout)) }

// begin sends the status before the first write.
func (s *stream) begin() error {
	if !s.begun {
		s.begun = true
		s.w.WriteHeader(http.StatusOK)
	}
	return s.control.Flush()
}

func (s *stream) Write(piece []byte) (int, error) {
	if len(piece) == 0 {
		return 0, nil
	}
	s.begun = true
	n, err := s.w.Write(piece)
	if n > 0 {
		s.midLine = piece[n-1] != '\n'
	}
	if err != nil {
		return n, err
	}
	return n, s.control.Flush()
}

// end reports an error to the client: before the first write as an HTTP status, which it returns, later as a last line.
func (s *stream) end(err error) error {
	if err == nil || !s.begun {
		return err
	}
	if s.r.Context().Err() != nil {
		s.limitWrites() // killing a command may have taken all the time
	} else if !errors.Is(err, api.ErrNotFound) {
		glog.Warningf("info server: %s: %v", s.r.Pattern, err)
	}
	line := "kubelet14: " + oneLine(err.Error()) + "\n"
	if s.midLine {
		line = "\n" + line
	}
	_, _ = s.Write([]byte(line))
	return nil
}
