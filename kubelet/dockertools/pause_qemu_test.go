//go:build qemu

// These tests run the pause program of the other machine in an emulator, which
// `make test` must not depend on: go test -tags qemu ./kubelet/dockertools

package dockertools

import (
	"bufio"
	"os/exec"
	"strings"
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
	defer cmd.Process.Kill()
	// The line has no end while the call lasts, so it is read up to the closing bracket.
	trace := bufio.NewReader(stderr)
	if call, err := trace.ReadString(')'); err != nil || !strings.Contains(call, " ppoll(") {
		t.Errorf("its first system call is %q, %v", call, err)
	}
	awaitStatus(t, cmd.Process.Pid, "State", "S (sleeping)")
	cmd.Process.Kill() // the trace ends with the process
	more, _ := trace.ReadString(0)
	endsByKill(t, cmd)
	if strings.Contains(more, "ppoll") || strings.Contains(more, " = ") {
		t.Errorf("its system call returned: %q", more)
	}
}
