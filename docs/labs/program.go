package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// program is the student's. It and the commands that it runs are one process group.
type program struct {
	dir     string
	command string // of sh
	logFile string
	log     *os.File
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
	killed  atomic.Bool   // by the check
}

// newProgram builds the program in a directory, unless there is a command that runs it.
func newProgram(ctx context.Context, temp, dir, command string) (*program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if command == "" {
		command = filepath.Join(temp, "program")
		build := exec.CommandContext(ctx, "go", "build", "-o", command, ".")
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("not yet: go build in %s says: %w\n%s", dir, err, out)
		}
	}
	p := &program{dir: dir, command: command, logFile: filepath.Join(dir, "lab.log")}
	p.log, err = os.Create(p.logFile)
	return p, err
}

// start runs the program.
func (c *check) start() {
	p := c.program
	cmd := exec.Command("sh", "-c", "exec "+p.command+` "$@"`, "sh", c.manifests, c.prefix)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, p.log, p.log
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "DOCKER_") })
	cmd.Env = append(cmd.Env, "DOCKER_HOST=unix://"+c.proxy.socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.proxy.open()
	c.must(cmd.Start())
	p.cmd = cmd
	p.killed.Store(false)
	p.done = make(chan struct{})
	go func() {
		cmd.Wait()
		close(p.done)
	}()
}

// stop ends the program with SIGTERM.
func (c *check) stop() {
	c.program.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.program.done:
	case <-c.ctx.Done():
		c.fail("your program ends after SIGTERM", "the check was stopped")
	case <-time.After(c.limit):
		c.fail("your program ends after SIGTERM", fmt.Sprintf("it still runs %v later", c.limit))
	}
	c.program.kill() // what it has left running
}

// kill ends the program and the commands that it runs with SIGKILL, and waits for its end.
func (p *program) kill() {
	if p.cmd != nil && !p.killed.Swap(true) {
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// ended returns an error if the program has ended, and was not killed by the check.
func (p *program) ended() error {
	select {
	case <-p.done:
		if p.killed.Load() {
			return nil
		}
		return fmt.Errorf("your program has ended by itself: %v", p.cmd.ProcessState)
	default:
		return nil
	}
}

// lastLines returns the end of what the program has printed.
func (p *program) lastLines(n int) string {
	text, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}
