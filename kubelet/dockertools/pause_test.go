package dockertools

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
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

func TestPauseProgramIsAGoodExecutable(t *testing.T) {
	for arch, want := range map[string]struct {
		machine elf.Machine
		code    []byte
	}{
		"amd64": {elf.EM_X86_64, pauseAMD64},
		"arm64": {elf.EM_AARCH64, pauseARM64},
	} {
		t.Run(arch, func(t *testing.T) {
			program, err := pauseProgram("linux", arch)
			if err != nil {
				t.Fatal(err)
			}
			file, err := elf.NewFile(bytes.NewReader(program))
			if err != nil {
				t.Fatal(err)
			}
			if file.Class != elf.ELFCLASS64 || file.Type != elf.ET_EXEC || file.Machine != want.machine {
				t.Errorf("it is %v %v for %v", file.Class, file.Type, file.Machine)
			}
			if len(file.Progs) != 1 {
				t.Fatalf("it has %d segments, want 1", len(file.Progs))
			}
			segment := file.Progs[0]
			if segment.Type != elf.PT_LOAD || segment.Flags != elf.PF_R|elf.PF_X {
				t.Errorf("the segment is %v with %v", segment.Type, segment.Flags)
			}
			if size := uint64(len(program)); segment.Off != 0 || segment.Filesz != size || segment.Memsz != size {
				t.Errorf("the segment is not the whole file of %d bytes: %+v", size, segment.ProgHeader)
			}
			if segment.Vaddr%segment.Align != segment.Off%segment.Align {
				t.Errorf("Linux cannot map the segment: %+v", segment.ProgHeader)
			}
			if code := program[file.Entry-segment.Vaddr:]; !bytes.Equal(code, want.code) {
				t.Errorf("at the entry there is % x, want % x", code, want.code)
			}
			if len(program) > 150 {
				t.Errorf("it has grown to %d bytes", len(program))
			}
		})
	}
}

// The jump is only reached when the call returns, which no test can bring about.
func TestPauseProgramsJumpBackToTheirStart(t *testing.T) {
	n := len(pauseAMD64)
	if opcode, distance := pauseAMD64[n-2], int8(pauseAMD64[n-1]); opcode != 0xeb || n+int(distance) != 0 {
		t.Errorf("amd64: % x jumps to %d", pauseAMD64[n-2:], n+int(distance))
	}
	n = len(pauseARM64) - 4
	jump := binary.LittleEndian.Uint32(pauseARM64[n:])
	// The distance is in the low 26 bits, in instructions of 4 bytes.
	if distance := int(int32(jump<<6)>>6) * 4; jump>>26 != 0b000101 || n+distance != 0 {
		t.Errorf("arm64: %x jumps to %d", jump, n+distance)
	}
}

func TestPauseImageNeedsAKnownMachine(t *testing.T) {
	for _, machine := range [][2]string{{"linux", "riscv64"}, {"windows", "amd64"}, {"", ""}} {
		_, err := pauseProgram(machine[0], machine[1])
		if err == nil || !strings.Contains(err.Error(), machine[0]+"/"+machine[1]) || !strings.Contains(err.Error(), "-network_container_image") {
			t.Errorf("%v: got %v, want an error that names the machine and the way out", machine, err)
		}
	}
}

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

	// Step: it sleeps. A loop around a call that fails would always be running.
	status := awaitStatus(t, cmd.Process.Pid, "State", "S (sleeping)")
	// Step: it catches no signal. What it ignores it has from whoever runs the tests.
	if status["SigCgt"] != "0000000000000000" {
		t.Errorf("it catches signals: %s", status["SigCgt"])
	}
	// Step: it ends by SIGKILL and by nothing before.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
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

// imageStore is a daemon that knows its machine and whether it has been given an
// image.
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

func TestPauseImageIsMadeOnceForTheDaemonsMachine(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		daemon := &imageStore{arch: arch}
		for range 2 {
			if err := EnsurePauseImage(t.Context(), daemon); err != nil {
				t.Fatal(err)
			}
		}
		want, err := pauseLayer("linux", arch)
		if err != nil {
			t.Fatal(err)
		}
		if len(daemon.layers) != 1 || !bytes.Equal(daemon.layers[0], want) {
			t.Errorf("%s: imported %d layers, want the one with the program: % x", arch, len(daemon.layers), daemon.layers)
		}
	}
}
