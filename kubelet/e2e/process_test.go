package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// process is a kubelet that runs.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *buffer       // what it writes to standard error
	out  *buffer       // and to standard output
	done chan struct{} // closed when it has ended
}

// start starts the host's kubelet on its directory of manifests.
func (h *host) start(flags ...string) *process {
	h.t.Helper()
	return h.startWith(append([]string{"-config=" + h.manifests}, flags...)...)
}

// startWith starts the host's kubelet with flags that say where its pods come from.
// It is killed when the test ends, if it still runs then; its log is shown when the
// test failed.
func (h *host) startWith(flags ...string) *process {
	h.t.Helper()
	p := &process{t: h.t, log: &buffer{}, out: &buffer{}, done: make(chan struct{})}
	p.cmd = exec.Command(kubeletBinary, h.args(flags...)...)
	p.cmd.Env = append(os.Environ(), h.env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.log
	if err := p.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	h.t.Cleanup(func() {
		p.kill()
		if h.t.Failed() {
			h.t.Logf("log of the kubelet with pid %d:\n%s", p.cmd.Process.Pid, p.log)
		}
	})
	return p
}

// kill ends the kubelet with SIGKILL.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// stop ends the kubelet with SIGTERM and checks that it says goodbye.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	<-p.done
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("the kubelet ended with exit code %d after SIGTERM\n%s", code, p.log)
	}
}

// running says whether it has not ended by itself.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// says waits until the log holds all of the given words in one line.
func (p *process) says(words ...string) {
	p.t.Helper()
	err := waitFor(func() error {
		if p.log.hasLine(words) {
			return nil
		}
		if !p.running() {
			return fmt.Errorf("it has ended")
		}
		return fmt.Errorf("no line with %q", words)
	})
	if err != nil {
		p.t.Fatalf("the kubelet does not say %q: %v\n%s", words, err, p.log)
	}
}

// buffer is a log that is written and read at once.
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

func (b *buffer) hasLine(words []string) bool {
	for line := range strings.Lines(b.String()) {
		n := 0
		for _, word := range words {
			if strings.Contains(line, word) {
				n++
			}
		}
		if n == len(words) {
			return true
		}
	}
	return false
}

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
