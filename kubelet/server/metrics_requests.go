package server

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// count counts the requests that next answers. Their paths are counted as the pattern
// of the route: a URL holds what anybody likes.
func (m *Metrics) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inFlight.Inc()
		began := time.Now()
		answer := &statusWriter{ResponseWriter: w}
		defer func() {
			m.inFlight.Dec()
			_, path, _ := strings.Cut(r.Pattern, " ") // the route has been set by now
			path = cmp.Or(path, "none")
			m.requests.WithLabelValues(path, method(r), strconv.Itoa(cmp.Or(answer.status, http.StatusOK))).Inc()
			m.requestTimes.WithLabelValues(path).Observe(time.Since(began).Seconds())
		}()
		next.ServeHTTP(answer, r)
	})
}

// method is one of a few, since a client can send any word.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// statusWriter remembers the status of an answer. To flush it and to set its deadlines
// is for http.ResponseController, which finds its way by Unwrap.
type statusWriter struct {
	http.ResponseWriter
	status int // 0: none was written
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // those below come before the answer's own
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
