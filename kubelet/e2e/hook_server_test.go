package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// hookServer is a web server of the test to which hooks make requests. So the test
// knows when a hook runs, and decides how it ends.
type hookServer struct {
	t     *testing.T
	port  int
	calls chan hookCall
}

// hookCall is a hook that waits for its answer.
type hookCall struct {
	t       *testing.T
	answers chan<- int      // HTTP status
	cut     <-chan struct{} // closed when the kubelet has given up the hook
}

func newHookServer(t *testing.T) *hookServer {
	s := &hookServer{t: t, calls: make(chan hookCall)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers, cut := make(chan int), r.Context().Done()
		select {
		case s.calls <- hookCall{t, answers, cut}:
		case <-cut:
			return
		}
		select {
		case status := <-answers:
			w.WriteHeader(status)
		case <-cut:
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.port = server.Listener.Addr().(*net.TCPAddr).Port
	return s
}

// hook returns the line of a manifest that makes a hook ask this server. Hooks run in
// the network of the kubelet.
func (s *hookServer) hook(name string) string {
	return fmt.Sprintf("lifecycle: {%s: {httpGet: {host: 127.0.0.1, port: %d, path: /}}}", name, s.port)
}

// next waits for the next call.
func (s *hookServer) next() hookCall {
	s.t.Helper()
	select {
	case call := <-s.calls:
		return call
	case <-time.After(patience):
		s.t.Fatal("no hook makes a request")
		panic("unreachable")
	}
}

// answer ends a hook.
func (c hookCall) answer(status int) {
	c.t.Helper()
	select {
	case c.answers <- status:
	case <-c.cut:
		c.t.Error("the hook was interrupted")
	}
}

// mustBeCut waits until the kubelet has given up the hook.
func (c hookCall) mustBeCut() {
	c.t.Helper()
	select {
	case <-c.cut:
	case <-time.After(patience):
		c.t.Fatal("the hook was not interrupted")
	}
}
