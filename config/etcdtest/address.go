package etcdtest

import (
	"fmt"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

// ReserveAddress returns an address that is the test's own until it ends. A socket
// that is bound and does not listen keeps the system from giving the port to others,
// and leaves it to those who ask for it.
func ReserveAddress(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	unittest.Must(tb, err)
	tb.Cleanup(func() { syscall.Close(fd) })
	unittest.Must(tb, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	unittest.Must(tb, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	address, err := syscall.Getsockname(fd)
	unittest.Must(tb, err)
	return fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
}
