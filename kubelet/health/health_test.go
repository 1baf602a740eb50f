package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// local is a container whose pod has the address on which the tests listen.
var local = Target{PodIP: "127.0.0.1"}

func httpProbe(path string, port int) *api.Probe {
	return &api.Probe{HTTPGet: &api.HTTPGetAction{Path: path, Port: api.IntOrString{Int: port}}}
}

func tcpProbe(port int) *api.Probe {
	return &api.Probe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: port}}}
}

var execProbe = &api.Probe{Exec: &api.ExecAction{Command: []string{"check", "all"}}}

// execOf is a container whose commands print this output and end with this code or error.
func execOf(output string, exitCode int, err error) Target {
	return Target{Exec: func(_ context.Context, _ string, _ []string, out io.Writer) (int, error) {
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
	unittest.Must(t, err)
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

// late returns a context whose deadline passes after this time.
func late(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("no answer within 5s"))
	t.Cleanup(cancel)
	return ctx
}

func TestTheExitCodeDecides(t *testing.T) {
	hook := &api.Handler{Exec: execProbe.Exec}
	for _, test := range []struct {
		target Target
		want   string
	}{
		{execOf("", 0, nil), ""},
		{execOf("Fail\n", 0, nil), ""},
		{execOf("ok", 1, nil), `unhealthy: run "check": exit code 1: ok`},
		{execOf(" \r\n", 137, nil), `unhealthy: run "check": exit code 137`},
		{execOf("half", 0, errors.New("no such container")), "unknown: no such container"},
		// The output becomes one line that is safe for a log and a terminal.
		{execOf("line 1\n\tline 2\r\n\n", 2, nil), `unhealthy: run "check": exit code 2: line 1 line 2`},
		{execOf("\x1b[31mred\x1b[0m\a\x00 a\u009b2J \u202eb", 2, nil), `unhealthy: run "check": exit code 2: ?[31mred?[0m?? a?2J ?b`},
		{execOf("a\xffb καλημέρα 世界", 2, nil), "unhealthy: run \"check\": exit code 2: a\ufffdb καλημέρα 世界"},
		// At most 1,000 characters of it are shown.
		{execOf(strings.Repeat("x", 986)+"é", 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("x", 986) + "é"},
		{execOf(strings.Repeat("x", 987)+"é", 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("x", 987) + "…"},
		{execOf(strings.Repeat("世", 1400), 2, nil), `unhealthy: run "check": exit code 2: ` + strings.Repeat("世", 987) + "…"},
	} {
		want(t, Probe(t.Context(), execProbe, test.target), test.want)
		want(t, RunHandler(t.Context(), hook, test.target), test.want)
	}
}

func TestACommandThatPrintsWithoutEnd(t *testing.T) {
	target := Target{Exec: func(_ context.Context, _ string, command []string, out io.Writer) (int, error) {
		for range 100 {
			if n, err := out.Write(make([]byte, 1<<20)); n != 1<<20 || err != nil {
				t.Fatalf("wrote %d, %v: that would interrupt the command", n, err)
			}
		}
		if kept := cap(*out.(*limitedBuffer)); kept > 2*maxOutput || !slices.Equal(command, execProbe.Exec.Command) {
			t.Errorf("the output of %q is kept to %d bytes, want about %d", command, kept, maxOutput)
		}
		return 0, nil
	}}
	want(t, Probe(t.Context(), execProbe, target), "")
}

func TestACommandThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context, _ string, _ []string, _ io.Writer) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		waits := func(ctx context.Context, _ string, _ []string, _ io.Writer) (int, error) {
			<-ctx.Done()
			return 0, fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, context.Cause(ctx))
		}
		ctx := late(t, 5*time.Second)
		want(t, Probe(ctx, execProbe, Target{Exec: hangs}), `unhealthy: run "check": no answer within 5s`)
		want(t, Probe(ctx, execProbe, Target{Exec: waits}), `unknown: run "check": the command was not started: no answer within 5s`)

		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(errors.New("the kubelet stops")) })
		want(t, Probe(ctx, execProbe, Target{Exec: hangs}), `unknown: run "check": the kubelet stops`)
	})
}

// A hook is lost neither with an answer of Docker nor while Docker is busy, and is not tried in a container that has ended.
func TestAHookThatDockerDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook, tries := &api.Handler{Exec: execProbe.Exec}, 0
		failing := func(times int, err error) Target {
			tries = 0
			return Target{Exec: func(context.Context, string, []string, io.Writer) (int, error) {
				if tries++; tries <= times {
					return 0, fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, err)
				}
				return 0, nil
			}}
		}
		check := func(err error, says string, n int) {
			t.Helper()
			if want(t, err, says); tries != n {
				t.Errorf("%d tries, want %d", tries, n)
			}
		}
		lost := errors.New("the answer is lost")
		check(RunHandler(t.Context(), hook, failing(3, lost)), "", 4)
		check(RunHandler(late(t, 4*hookRetry-1), hook, failing(100, lost)), "unknown: the command was not started: the answer is lost", 4)
		check(RunHandler(t.Context(), hook, failing(100, dockertools.ErrNotRunning)), "unknown: the command was not started: the container does not run", 1)
		check(RunHandler(t.Context(), hook, failing(100, dockertools.ErrNoSuchContainer)), "unknown: the command was not started: no such container", 1)
		check(Probe(t.Context(), execProbe, failing(1, lost)), "unknown: the command was not started: the answer is lost", 1)
	})
}

// closedPort is a port on which no program listens: it is reserved for TCPMUX.
const closedPort = 1

func TestTCPProbe(t *testing.T) {
	port := listen(t, func(*net.TCPConn) {})
	want(t, Probe(t.Context(), tcpProbe(port), local), "")
	named := &api.Probe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Str: "web"}}}
	want(t, Probe(t.Context(), named, Target{PodIP: "127.0.0.1", Ports: []api.Port{{Name: "web", HostPort: 1, ContainerPort: port}}}), "")
	want(t, Probe(t.Context(), tcpProbe(closedPort), local), "unhealthy: connect to 127.0.0.1:1: connection refused")
}

func TestWhatTheContainerDidNotCauseIsUnknown(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	late := late(t, 0)
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "unhealthy: connection refused"},
		{t.Context(), dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "unhealthy: no route to host"},
		{t.Context(), dial(os.NewSyscallError("socket", syscall.EMFILE)), "unknown: dial tcp: socket: too many open files"},
		{t.Context(), dial(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)), "unknown: dial tcp: connect: " + syscall.EADDRNOTAVAIL.Error()},
		{t.Context(), dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "unknown: dial tcp: connect: network is unreachable"},
		{t.Context(), dial(&net.DNSError{Err: "no such host", Name: "web"}), "unknown: dial tcp: lookup web: no such host"},
		{late, dial(&net.DNSError{Err: "i/o timeout", Name: "web"}), "unknown: dial tcp: lookup web: i/o timeout"},
		{late, dial(os.ErrDeadlineExceeded), "unhealthy: no answer within 5s"},
	} {
		want(t, classify(test.ctx, test.err), test.want)
	}
}

var testPorts = []api.Port{
	{Name: "http", HostPort: 80, ContainerPort: 8080},
	{Name: "9", HostPort: 81, ContainerPort: 9090}, // a name, though it looks like a number
}

func TestResolvePort(t *testing.T) {
	for port, number := range map[api.IntOrString]int{
		{Int: 1}: 1, {Int: 65535}: 65535, {Int: 9}: 9, {Str: "93"}: 93, {Str: "http"}: 8080, {Str: "9"}: 9090,
	} {
		if got := api.ResolvePort(port, testPorts); got != number {
			t.Errorf("port %v is %d; want %d", port, got, number)
		}
	}
}

func TestResolveHandler(t *testing.T) {
	get := func(port api.IntOrString) *api.Handler {
		return &api.Handler{HTTPGet: &api.HTTPGetAction{Path: "/x", Host: "h", Port: port}}
	}
	for _, test := range []struct{ in, want *api.Handler }{
		{nil, nil},
		{&api.Handler{Exec: execProbe.Exec}, &api.Handler{Exec: execProbe.Exec}},
		{get(api.IntOrString{Int: 5}), get(api.IntOrString{Int: 5})},
		{get(api.IntOrString{Str: "5"}), get(api.IntOrString{Int: 5})},
		{get(api.IntOrString{Str: "http"}), get(api.IntOrString{Int: 8080})},
		{get(api.IntOrString{}), get(api.IntOrString{Int: 80})},
	} {
		var before api.Handler
		if test.in != nil {
			api.Copy(&before, test.in)
		}
		if diff := cmp.Diff(test.want, test.in.Resolve(testPorts)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if test.in != nil && !cmp.Equal(before, *test.in) {
			t.Errorf("its argument has changed to %v", *test.in)
		}
	}
}
