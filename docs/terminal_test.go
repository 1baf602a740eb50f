package docs

import (
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// terminal is one at which somebody works in bash.
type terminal struct {
	t    *testing.T
	tty  *os.File // the end of the person
	seen string   // what sees has found last

	mu   sync.Mutex
	more *sync.Cond
	out  []byte // guarded by mu; what was printed after seen
	err  error  // guarded by mu; why there will be no more
}

// terminal opens one with the commands that README.md has readers give before each chapter.
func (r *reader) terminal(t *testing.T) *terminal {
	t.Helper()
	tty, slave := hosttest.OpenTerminal(t)
	defer slave.Close()
	bash := exec.Command("bash", "--norc", "--noediting", "-i")
	bash.Dir, bash.Stdin, bash.Stdout, bash.Stderr = r.dir, slave, slave, slave
	bash.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	unittest.Must(t, bash.Start())
	x := &terminal{t: t, tty: tty}
	x.more = sync.NewCond(&x.mu)
	go x.read()
	t.Cleanup(func() {
		tty.Close() // as a window that is closed: all that runs in it ends
		bash.Wait()
	})
	x.types("stty -echo\n" + r.prepare(t))
	return x
}

func (x *terminal) read() {
	for buf := make([]byte, 4096); ; {
		n, err := x.tty.Read(buf)
		x.mu.Lock()
		x.out, x.err = append(x.out, buf[:n]...), err
		x.mu.Unlock()
		x.more.Broadcast()
		if err != nil {
			return
		}
	}
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.tty.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// sees waits until the pattern is in what was printed since the last time.
func (x *terminal) sees(pattern string) {
	x.t.Helper()
	patience := time.AfterFunc(10*time.Minute, func() { x.tty.Close() })
	defer patience.Stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		if at := regexp.MustCompile(pattern).FindIndex(x.out); at != nil {
			x.seen, x.out = string(x.out[:at[1]]), x.out[at[1]:]
			return
		}
		if x.err != nil {
			x.t.Fatalf("the terminal does not show %q, but\n%s", pattern, x.out)
		}
		x.more.Wait()
	}
}
