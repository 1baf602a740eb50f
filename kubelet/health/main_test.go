package health

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kubelet14/api"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// local is a container whose pod has the address that the tests listen on.
var local = Target{PodIP: "127.0.0.1"}

func httpProbe(path string, port int) *api.Probe {
	return &api.Probe{HTTPGet: &api.HTTPGetAction{Path: path, Port: api.IntOrString{Int: port}}}
}

func tcpProbe(port int) *api.Probe {
	return &api.Probe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: port}}}
}

var execProbe = &api.Probe{Exec: &api.ExecAction{Command: []string{"check", "all"}}}

// execOf is a container whose commands print this and end like this.
func execOf(output string, exitCode int, err error) Target {
	return Target{Exec: func(_ context.Context, _ []string, out io.Writer) (int, error) {
		io.WriteString(out, output)
		return exitCode, err
	}}
}

// want checks the result of a probe: "", or "unhealthy: " or "unknown: " and the error.
func want(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = "unknown: " + err.Error()
	}
	if _, unhealthy := errors.AsType[Unhealthy](err); unhealthy {
		got = "unhealthy: " + err.Error()
	}
	if got != want {
		t.Errorf("the probe says\n%q, want\n%q", got, want)
	}
}

// listen calls serve for each connection to a port of 127.0.0.1, one after another, and
// then closes it.
func listen(t *testing.T, serve func(*net.TCPConn)) (port int) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for conn, err := listener.AcceptTCP(); err == nil; conn, err = listener.AcceptTCP() {
			serve(conn)
			conn.Close()
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// answer starts a server that answers each request with start, and then with repeated until
// the connection is closed.
func answer(t *testing.T, start, repeated string) (port int) {
	t.Helper()
	return listen(t, func(conn *net.TCPConn) {
		conn.Read(make([]byte, 4096))
		_, err := io.WriteString(conn, start)
		for again := strings.Repeat(repeated, 1000); again != "" && err == nil; {
			_, err = io.WriteString(conn, again)
		}
	})
}

// late returns a context whose deadline passes after a moment.
func late(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("no answer within 5s"))
	t.Cleanup(cancel)
	return ctx
}
