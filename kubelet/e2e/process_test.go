package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// process is a kubelet that runs.
type process struct {
	h    *host
	t    testing.TB
	cmd  *exec.Cmd
	log  *buffer       // all that it prints
	done chan struct{} // closed when it has ended
}

// start starts the host's kubelet on its directory of manifests.
func (h *host) start(flags ...string) *process {
	h.t.Helper()
	return h.startWith(append([]string{"-config=" + h.manifests}, flags...)...)
}

// startWith starts the host's kubelet with flags that name its sources. At the end of
// the test the kubelet is killed if it still runs, and its log is shown if the test
// failed.
func (h *host) startWith(flags ...string) *process {
	h.t.Helper()
	p := &process{h: h, t: h.t, cmd: h.command(flags...), log: &buffer{}, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	h.must(p.cmd.Start())
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	t := h.t
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of the kubelet with pid %d:\n%s", p.cmd.Process.Pid, p.log)
		}
	})
	return p
}

// kill ends the kubelet with SIGKILL.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// stop ends the kubelet with SIGTERM and checks that it exits with 0.
func (p *process) stop() {
	p.t.Helper()
	p.h.must(p.cmd.Process.Signal(syscall.SIGTERM))
	defer time.AfterFunc(unittest.Limit(), func() { p.cmd.Process.Signal(syscall.SIGQUIT) }).Stop() // it lists its goroutines
	<-p.done
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("the kubelet ended with exit code %d after SIGTERM\n%s", code, p.log)
	}
}

// running reports whether the kubelet has not ended.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// awaitLog waits until one line of the log holds all words.
func (p *process) awaitLog(words ...string) {
	p.t.Helper()
	err := unittest.Wait(func() error {
		for line := range strings.Lines(p.log.String()) {
			if hasWords(line, words) == nil {
				return nil
			}
		}
		if !p.running() {
			return errors.New("it has ended")
		}
		return fmt.Errorf("no line with %q", words)
	})
	if err != nil {
		p.t.Fatalf("the kubelet does not log %q: %v\n%s", words, err, p.log)
	}
}

// awaitUp waits until the kubelet logs that pods are up. A new kubelet that does so
// has looked at their containers.
func (p *process) awaitUp(ids ...string) {
	p.t.Helper()
	for _, id := range ids {
		p.awaitLog(fullName(id), "is up")
	}
}

// buffer may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
