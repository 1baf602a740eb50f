package hosttest

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

// Process is a kubelet that runs.
type Process struct {
	h    *Host
	t    testing.TB
	Cmd  *exec.Cmd
	Log  *Buffer       // all that it prints
	done chan struct{} // closed when it has ended
}

// Start starts the host's kubelet on its directory of manifests.
func (h *Host) Start(flags ...string) *Process {
	h.T.Helper()
	return h.StartWith(append([]string{"-config=" + h.Manifests}, flags...)...)
}

// StartWith starts the host's kubelet with flags that name its sources. At the end of
// the test the kubelet is killed if it still runs, and its log is shown if the test
// failed.
func (h *Host) StartWith(flags ...string) *Process {
	h.T.Helper()
	p := &Process{h: h, t: h.T, Cmd: h.Command(flags...), Log: &Buffer{}, done: make(chan struct{})}
	p.Cmd.Stdout, p.Cmd.Stderr = p.Log, p.Log
	_, err := p.Cmd.StdinPipe() // with -step the kubelet ends with its input
	h.Must(err)
	h.Must(p.Cmd.Start())
	go func() {
		p.Cmd.Wait()
		close(p.done)
	}()
	t := h.T
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("log of the kubelet with pid %d:\n%s", p.Cmd.Process.Pid, p.Log)
		}
	})
	return p
}

// Kill ends the kubelet with SIGKILL.
func (p *Process) Kill() {
	p.Cmd.Process.Kill()
	<-p.done
}

// Stop ends the kubelet with SIGTERM and checks that it exits with 0.
func (p *Process) Stop() {
	p.t.Helper()
	p.h.Must(p.Cmd.Process.Signal(syscall.SIGTERM))
	defer time.AfterFunc(unittest.Limit(), func() { p.Cmd.Process.Signal(syscall.SIGQUIT) }).Stop() // it lists its goroutines
	<-p.done
	if code := p.Cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("the kubelet ended with exit code %d after SIGTERM\n%s", code, p.Log)
	}
}

// Running reports whether the kubelet has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// AwaitLog waits until one line of the log holds all words.
func (p *Process) AwaitLog(words ...string) {
	p.t.Helper()
	err := unittest.Wait(func() error {
		for line := range strings.Lines(p.Log.String()) {
			if unittest.HasWords(line, words...) == nil {
				return nil
			}
		}
		if !p.Running() {
			return errors.New("it has ended")
		}
		return fmt.Errorf("no line with %q", words)
	})
	if err != nil {
		p.t.Fatalf("the kubelet does not log %q: %v\n%s", words, err, p.Log)
	}
}

// AwaitUp waits until the kubelet logs that pods are up. A new kubelet that does so
// has looked at their containers.
func (p *Process) AwaitUp(ids ...string) {
	p.t.Helper()
	for _, id := range ids {
		p.AwaitLog(FullName(id), "is up")
	}
}

// Buffer may be written and read at the same time.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
