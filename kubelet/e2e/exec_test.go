package e2e

import (
	"bytes"
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

// A command gets its input to the end, its outputs stay apart, and its exit code is that of the program.
func TestIntegrationExec(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", hosttest.TwoContainers("web"))
	h.WriteSleepers("one")
	p := h.Start()
	p.AwaitUp("web", "one")
	run := func(input string, line string) (exit int, stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		cmd := h.Command(strings.Fields(line)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), out.String(), errs.String()
	}
	long := strings.Repeat("0123456789 abcdefghijklmnopqrstuvwxyz\n", 50_000)
	for _, tt := range []struct {
		input, line    string
		exit           int
		stdout, stderr string
	}{
		{"", "exec one -- /hello exit 0", 0, "", ""},
		{"", "exec one -- /hello exit 7", 7, "", ""},
		{long, "exec -i one -- /hello repeat -exit 3", 3, long, ""},
		{long, "exec one -i -- /hello exit 4", 4, "", ""}, // which reads nothing
		{"hello\n", "exec one -- /hello repeat", 0, "", ""},
		{"", "exec one -- /hello cat /none", 1, "", "hello cat: open /none: no such file or directory\n"},
		{"", "exec web -- /hello exit 5", 5, "", "kubelet14: pod web.default.file has 2 containers: this is main; -c names another one\n"},
		{"", "exec web -c side -- /hello exit 5", 5, "", ""},
		{"hello\n", "exec -it one -- /hello repeat", 0, "hello\n", "kubelet14: the input is no terminal, so the command gets none\n"},
	} {
		exit, stdout, stderr := run(tt.input, tt.line)
		if exit != tt.exit || stdout != tt.stdout || stderr != tt.stderr {
			t.Errorf("%s: exit code %d, want %d, %d bytes of output, want %d, and %q, want %q", tt.line, exit, tt.exit, len(stdout), len(tt.stdout), stderr, tt.stderr)
		}
	}
	h.MustRun("stop", "one")
	if exit, _, stderr := run("", "exec one -- /hello env"); exit != 1 || !strings.Contains(stderr, `container "main" of pod one.default.file does not run`) {
		t.Errorf("in a stopped pod: exit code %d and %q", exit, stderr)
	}
}

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
