//go:build qemu

// These tests run the pause program of the other machine in an emulator, which
// `make test` must not depend on: go test -tags qemu ./kubelet/dockertools

package dockertools

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestPauseProgramRunsOnARM64(t *testing.T) {
	const emulator = "qemu-aarch64-static"
	if _, err := exec.LookPath(emulator); err != nil {
		t.Fatalf("%v: get it with `apt-get install -y qemu-user-static`", err)
	}
	cmd := exec.Command(emulator, "-strace", writePause(t, "arm64"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()

	// Step: its first system call is ppoll. The line has no end while
	// the call lasts, so it is read up to the closing bracket.
	trace := bufio.NewReader(stderr)
	call, err := trace.ReadString(')')
	if err != nil || !strings.Contains(call, " ppoll(") {
		t.Fatalf("its first system call is %q, %v", call, err)
	}
	// Step: it stays in it.
	awaitStatus(t, cmd.Process.Pid, "State", "S (sleeping)")
	// Step: it ends by SIGKILL, and had not returned from it before.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	more, _ := trace.ReadString(0)
	cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v, want SIGKILL", cmd.ProcessState)
	}
	if strings.Contains(more, "ppoll") || strings.Contains(more, " = ") {
		t.Errorf("its system call returned: %q", more)
	}
}
