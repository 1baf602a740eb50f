package dockertools

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// writePause writes the program for a machine into a file that can be run.
func writePause(t *testing.T, arch string) (path string) {
	t.Helper()
	program, err := pauseProgram("linux", arch)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "pause")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPauseProgramSleepsUntilItIsKilled(t *testing.T) {
	cmd := exec.Command(writePause(t, runtime.GOARCH))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	// A loop around a call that fails would always be running.
	if status := awaitStatus(t, cmd.Process.Pid, "State", "S (sleeping)"); status["SigCgt"] != "0000000000000000" {
		t.Errorf("it catches signals: %s", status["SigCgt"])
	}
	endsByKill(t, cmd)
}

func endsByKill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Process.Kill()
	cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v, want SIGKILL", cmd.ProcessState)
	}
}

// awaitStatus waits until a field of /proc/<pid>/status has a value, and returns
// all of them.
func awaitStatus(t *testing.T, pid int, field, want string) map[string]string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		status := map[string]string{}
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(line, ":")
			status[name] = strings.TrimSpace(value)
		}
		if status[field] == want {
			return status
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s never was %q:\n%s", field, want, data)
		}
	}
}

// imageStore is a Docker that records its imports.
type imageStore struct {
	Interface
	arch   string
	layers [][]byte
}

func (s *imageStore) Version(context.Context) (Version, error) {
	return Version{OS: "linux", Arch: s.arch}, nil
}

func (s *imageStore) InspectImage(context.Context, string) (string, error) {
	if len(s.layers) == 0 {
		return "", ErrNoSuchImage
	}
	return "sha256:0123", nil
}

func (s *imageStore) ImportImage(_ context.Context, _ string, tar io.Reader) error {
	layer, err := io.ReadAll(tar)
	s.layers = append(s.layers, layer)
	return err
}

// The digests are those of every version: an upgrade finds the image and its
// containers unchanged.
func TestPauseImageIsMadeOnceForTheDaemonsMachine(t *testing.T) {
	for arch, want := range map[string]string{
		"amd64": "05e7d1284b07c8f5b965b944d02d75c3f92b72cf9f8b6edfe61efccc56abb16b",
		"arm64": "f007739cd5f744d53f055482b298ea17baa06993161798faba35d10319f23076",
	} {
		daemon := &imageStore{arch: arch}
		for range 2 {
			if err := EnsurePauseImage(t.Context(), daemon); err != nil {
				t.Fatal(err)
			}
		}
		if len(daemon.layers) != 1 || fmt.Sprintf("%x", sha256.Sum256(daemon.layers[0])) != want {
			t.Errorf("%s: imported %d layers, the first with digest %x; want 1 with %s", arch, len(daemon.layers), sha256.Sum256(daemon.layers[0]), want)
		}
	}
	err := EnsurePauseImage(t.Context(), &imageStore{arch: "riscv64"})
	if err == nil || !strings.Contains(err.Error(), "linux/riscv64") || !strings.Contains(err.Error(), "-network_container_image") {
		t.Errorf("got %v, want an error that names the machine and the way out", err)
	}
}
