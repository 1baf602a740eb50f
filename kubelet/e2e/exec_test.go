package e2e

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// commands returns how many commands run in a container beside its program.
func commands(h *host, id string) (n int, err error) {
	top, err := h.Docker.TopContainer(id, "")
	return len(top.Processes) - 1, err
}

// At a terminal each key arrives, and each size. The terminal is as before when the command has ended.
func TestIntegrationExecInATerminal(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web")
	h.Start().AwaitUp("web")
	person, programs := hosttest.OpenTerminal(t)
	defer programs.Close()
	screen := &hosttest.Buffer{}
	go io.Copy(screen, person) // it ends when nobody has the terminal open
	resize := func(rows, columns uint16) {
		t.Helper()
		h.Must(unix.IoctlSetWinsize(int(programs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}))
	}
	mode := func() string {
		t.Helper()
		mode, err := unix.IoctlGetTermios(int(programs.Fd()), unix.TCGETS)
		h.Must(err)
		return fmt.Sprint(mode)
	}
	sees := func(words string) {
		t.Helper()
		h.Await("the terminal shows "+words, func() error { return unittest.HasWords(screen.String(), words) })
	}
	before := mode()
	cmd := h.Command("exec", "-it", "web", "--", "/hello", "repeat", "-exit", "6")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = programs, programs, programs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	h.Must(cmd.Start())
	sees("terminal of 50 rows and 500 columns")
	resize(33, 77)
	sees("terminal of 33 rows and 77 columns")
	io.WriteString(person, "hello\r")
	sees("hello\r\nhello\r\n")
	io.WriteString(person, "\x10") // Ctrl-P
	sees("^P")
	io.WriteString(person, "\r\x04")
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 6 {
		t.Errorf("it ends with %v\n%s", err, screen)
	}
	if after := mode(); after != before {
		t.Errorf("the mode of the terminal is %s, and was %s", after, before)
	}

	cmd = h.Command("exec", "-it", "web", "--", "/hello", "sleep")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = programs, programs, programs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	h.Must(cmd.Start())
	sees("asleep")
	io.WriteString(person, "\x03") // which is for the command, not for kubelet14
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v\n%s", err, screen)
	}
	sees("asked to stop: interrupt")
}

// A command ends with its client and with the kubelet, and then the client says so.
func TestIntegrationExecIsCut(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web")
	p := h.Start()
	p.AwaitUp("web")
	id := h.Live("web", "main").ID
	for _, tt := range []struct {
		name string
		end  func(cmd *exec.Cmd)
		exit int
		says string
		goes bool // the command too
	}{
		{"the client is killed", func(cmd *exec.Cmd) { cmd.Process.Kill() }, -1, "", true},
		{"Ctrl-C", func(cmd *exec.Cmd) { cmd.Process.Signal(syscall.SIGINT) }, 130, "", true},
		{"the kubelet stops", func(*exec.Cmd) { p.Stop() }, 1, "signal received", false}, // a busy Docker may not kill it in time
		{"the kubelet is killed", func(*exec.Cmd) { p.Kill() }, 1, "the connection to the kubelet was cut", false},
		{"its container ends", func(*exec.Cmd) { h.Kill("web", "main") }, 137, "", false},
	} {
		if !p.Running() {
			p = h.Start()
			p.AwaitUp("web")
		}
		var out, errs hosttest.Buffer
		cmd := h.Command("exec", "-i", "web", "--", "/hello", "sleep")
		input, err := cmd.StdinPipe()
		h.Must(err)
		cmd.Stdout, cmd.Stderr = &out, &errs
		h.Must(cmd.Start())
		fmt.Fprintln(input, "nobody reads this")
		h.Await(tt.name+": the command runs", func() error { return unittest.HasWords(out.String(), "asleep") })
		tt.end(cmd)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != tt.exit || !strings.Contains(errs.String(), tt.says) {
			t.Errorf("%s: exit code %d and %q", tt.name, code, errs.String())
		}
		if !tt.goes {
			continue
		}
		h.Await(tt.name+": the command is gone", func() error {
			n, err := commands(h, id)
			if err == nil && n != 0 {
				err = fmt.Errorf("%d commands run", n)
			}
			return err
		})
	}
}
