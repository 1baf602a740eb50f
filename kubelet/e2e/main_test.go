// Package e2e tests the whole program on a real Docker: the binary, started as a
// user starts it, and then the state of Docker, of files and of ports.
package e2e

import (
	"net"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
	"kubelet14/kubelet/e2e/hosttest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// host is a host whose pods may also come from other sources.
type host struct {
	*hosttest.Host
	web  *hosttest.WebServer // nil: none
	etcd *etcdtest.Server    // nil: none
}

func newHost(t testing.TB) *host {
	t.Helper()
	return &host{Host: hosttest.New(t)}
}

// freePort returns a port of this machine that Linux gives to no other program.
func freePort(t testing.TB) int {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", etcdtest.ReserveAddress(t))
	unittest.Must(t, err)
	return address.Port
}

// takePort listens on a port of this machine until release or the end of the test.
func takePort(t testing.TB) (port int, release func()) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	unittest.Must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port, func() { l.Close() }
}
