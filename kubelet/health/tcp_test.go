package health

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
)

// closedPort is a port on which no program listens: it is reserved for TCPMUX.
const closedPort = 1

func TestTCPProbe(t *testing.T) {
	want(t, Probe(t.Context(), tcpProbe(80), Target{}), "unknown: the pod has no IP yet")
	port := listen(t, func(*net.TCPConn) {})
	want(t, Probe(t.Context(), tcpProbe(port), local), "")
	named := &api.Probe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Str: "web"}}}
	want(t, Probe(t.Context(), named, Target{PodIP: "127.0.0.1", Ports: []api.Port{{Name: "web", HostPort: 1, ContainerPort: port}}}), "")
	want(t, Probe(t.Context(), tcpProbe(closedPort), local), "unhealthy: connect to 127.0.0.1:1: connection refused")
}

func TestWhatTheContainerDidNotCauseIsUnknown(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	late, cancel := context.WithDeadlineCause(t.Context(), time.Now(), errors.New("no answer within 5s"))
	defer cancel()
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
