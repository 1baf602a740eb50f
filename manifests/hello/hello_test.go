package hello

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test program run as hello: the tests start it with a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		Main()
	}
	os.Exit(m.Run())
}

func TestCommandsPrintAndExit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, tt := range [][2]string{ // arguments; exit code and output
		{"dance", "2 "},
		{"exit", "2 "}, // without its argument
		{"exit 7", "7 "},
		{"sleep -for 1ms -exit 3", "3 asleep; SIGTERM ends it\n"},
		{"append -for 0s " + file + " one", "0 "},
		{"append -for 0s -exit 4 " + file + " two", "4 "},
		{"cat " + file, "0 one\ntwo\n"},
		{"cat " + filepath.Dir(file), "0 file:\none\ntwo\n"},
		{"say -exit 6 " + file + " three", "6 "},
		{"cat " + file, "0 three"},
		{"cat /nosuch", "1 "},
		{"eat -for 0s -exit 8 100000", "8 ate 100000 bytes\n"},
		{"flood -lines 2 -bytes 8", "0 1 xxxxx\n2 xxxxx\n"},
		{"fetch http://127.0.0.1:1/", "1 "},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(tt[0])...)
		out, _ := cmd.Output()
		if got := fmt.Sprintf("%d %s", cmd.ProcessState.ExitCode(), out); got != tt[1] {
			t.Errorf("%s: exit code and output are %q, want %q", tt[0], got, tt[1])
		}
	}
}
