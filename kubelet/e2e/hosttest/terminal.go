package hosttest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"kubelet14/api/unittest"
)

// OpenTerminal opens a terminal of 50 lines: the end of the person at it, and the end of the programs in it. The test
// closes both.
func OpenTerminal(tb testing.TB) (person, programs *os.File) {
	tb.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	unittest.Must(tb, err)
	conn, err := person.SyscallConn() // person.Fd would let Close wait for Read
	unittest.Must(tb, err)
	number := 0
	errControl := conn.Control(func(fd uintptr) {
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		err = errors.Join(err, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 500}))
	})
	unittest.Must(tb, err, errControl)
	programs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	unittest.Must(tb, err)
	return person, programs
}
