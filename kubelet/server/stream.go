package server

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// stream is an answer of text that comes piece by piece, for as long as it takes. When
// Write returns, the piece is on its way to the client. One goroutine may use it.
type stream struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	leave   func() bool // to be called at the end: it takes back what newStream has arranged
	begun   bool        // the status is out, and cannot be changed any more
	midLine bool        // the last piece has no newline at its end
}

// newStream makes an answer without a time limit. When the request's context is done it
// has one again: a client that takes nothing must not keep back who has to end a command.
func newStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	if err := lift(w); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s := &stream{w: w, r: r, control: http.NewResponseController(w)}
	s.leave = context.AfterFunc(r.Context(), s.hurry)
	return s, nil
}

// hurry limits the time for what is still to be written.
func (s *stream) hurry() { _ = s.control.SetWriteDeadline(time.Now().Add(lastWordsTimeout)) }

// lift takes the time limit off an answer. There is none on reading by now: net/http
// lifts that itself, when it has read the request to its end.
func lift(w http.ResponseWriter) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// begin sends the status, though there is nothing to say yet.
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

// end says what went wrong, if anything did. While nothing is sent the status can say
// so, by the error that it returns, and then a last line must.
func (s *stream) end(err error) error {
	if s.r.Context().Err() != nil {
		s.hurry() // to end a command may have taken all the time
	}
	if err == nil {
		return nil
	}
	if !s.begun {
		return missing(err)
	}
	if !errors.Is(err, api.ErrNotFound) && s.r.Context().Err() == nil {
		glog.Warningf("info server: %s %s: %v", s.r.Method, s.r.URL.Path, err)
	}
	line := "kubelet14: " + oneLine(err) + "\n"
	if s.midLine {
		line = "\n" + line
	}
	s.Write([]byte(line)) // a client that is gone misses nothing
	return nil
}

// missing gives an error of the kubelet its status, when it means that something is not
// there or does not run.
func missing(err error) error {
	if errors.Is(err, api.ErrNotFound) {
		return refuse(http.StatusNotFound, "%v", err)
	}
	return err
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
