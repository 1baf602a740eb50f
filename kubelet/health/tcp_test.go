package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// closedPort is a port of 127.0.0.1 that refuses connections as long as the test
// goes on: it is bound, and nobody listens.
func closedPort(t *testing.T) (port int) {
	t.Helper()
	_, port = boundSocket(t)
	return port
}

func boundSocket(t *testing.T) (socket, port int) {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return socket, name.(*syscall.SockaddrInet4).Port
}

func TestATCPProbeOpensAndClosesAConnection(t *testing.T) {
	closed := make(chan error, 1)
	port := listen(t, func(conn *net.TCPConn) {
		_, err := conn.Read(make([]byte, 1))
		closed <- err
	})
	wantResult(t, Probe(t.Context(), tcpProbe(port), local), Healthy, fmt.Sprintf("connected to 127.0.0.1:%d", port))
	if err := <-closed; err != io.EOF {
		t.Errorf("the server reads %v, want the end of the connection", err)
	}
}

func TestATCPProbeThatIsRefusedIsUnhealthy(t *testing.T) {
	port := closedPort(t)
	wantResult(t, Probe(t.Context(), tcpProbe(port), local), Unhealthy,
		fmt.Sprintf("connect to 127.0.0.1:%d: connection refused", port))
}

func TestATCPProbeOfAPodWithoutAnIPIsUnknown(t *testing.T) {
	wantResult(t, Probe(t.Context(), tcpProbe(80), Target{}), Unknown, "the pod has no IP yet")
}

// With a queue of one connection that nobody accepts, Linux drops all that follow.
func TestATCPProbeWithoutAnAnswerIsUnhealthy(t *testing.T) {
	socket, port := boundSocket(t)
	if err := syscall.Listen(socket, 0); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	first, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	wantResult(t, Probe(ctx, tcpProbe(port), local), Unhealthy, "connect to "+address+": no answer in time")
}

func TestWhoIsToBlameForAnError(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	late, cancel := context.WithDeadlineCause(t.Context(), time.Now(), errors.New("no answer within 5s"))
	defer cancel()
	for name, test := range map[string]struct {
		ctx       context.Context
		err       error
		container bool
		want      string
	}{
		"refused":              {t.Context(), dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), true, "connection refused"},
		"no route to the pod":  {t.Context(), dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), true, "no route to host"},
		"no more files":        {t.Context(), dial(os.NewSyscallError("socket", syscall.EMFILE)), false, "too many open files"},
		"no more ports":        {t.Context(), dial(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)), false, "cannot assign requested address"},
		"this host is offline": {t.Context(), dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), false, "network is unreachable"},
		"no such name":         {t.Context(), dial(&net.DNSError{Err: "no such host", Name: "web"}), false, "lookup web: no such host"},
		"a slow name server":   {late, dial(&net.DNSError{Err: "i/o timeout", Name: "web"}), false, "lookup web: i/o timeout"},
		"a slow container":     {late, dial(os.ErrDeadlineExceeded), true, "no answer within 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			err := blame(test.ctx, test.err)
			if _, container := errors.AsType[failure](err); container != test.container || err.Error() != test.want {
				t.Errorf("%q, the container's fault: %v; want %q, %v", err, container, test.want, test.container)
			}
		})
	}
}

// ahead is a context whose deadline has passed, and which is not done yet.
type ahead struct{ context.Context }

func (ahead) Deadline() (time.Time, bool) { return time.Now(), true }

func TestADialThatIsAheadOfItsContextIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("no answer within 5s"))
		defer cancel()
		if err := blame(ahead{ctx}, os.ErrDeadlineExceeded); err.Error() != "no answer within 5s" {
			t.Errorf("%q, want the words of the context", err)
		}
	})
}
