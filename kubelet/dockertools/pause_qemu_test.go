//go:build qemu

// This test runs the pause program of the other machine in an emulator, which
// `make test` must not depend on: go test -tags qemu ./kubelet/dockertools

package dockertools

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

func TestPauseProgramRunsOnARM64(t *testing.T) {
	const emulator = "qemu-aarch64-static" // of the package qemu-user-static
	program, err := pauseProgram("linux", "arm64")
	path := filepath.Join(t.TempDir(), "pause")
	cmd := exec.Command(emulator, "-strace", path)
	stderr, pipeErr := cmd.StderrPipe()
	unittest.Must(t, err, os.WriteFile(path, program, 0o755), pipeErr, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// The line has no end while the call lasts, so it is read up to the closing bracket.
	trace := bufio.NewReader(stderr)
	if call, err := trace.ReadString(')'); err != nil || !strings.Contains(call, " ppoll(") {
		t.Errorf("its first system call is %q, %v", call, err)
	}
	for stat := ""; !strings.Contains(stat, ") S "); { // a loop around a call that fails never sleeps
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if stat = string(text); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Process.Kill() // the trace ends with the process
	if more, _ := trace.ReadString(0); strings.Contains(more, "ppoll") || strings.Contains(more, " = ") {
		t.Errorf("its system call returned: %q", more)
	}
}
