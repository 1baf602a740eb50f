package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test program be hello: the tests start it with a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		main()
	}
	os.Exit(m.Run())
}

// startHello starts hello; it is killed when the test ends.
func startHello(t *testing.T, args ...string) (cmd *exec.Cmd, output *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(r)
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

func TestSIGTERM(t *testing.T) {
	for flags, code := range map[string]int{"": 0, "-exit-on-term 5": 5, "-ignore-term": -1} {
		cmd, output := startHello(t, append(append([]string{"append"}, strings.Fields(flags)...), filepath.Join(t.TempDir(), "file"), "ready")...)
		await(cmd.Args[len(cmd.Args)-2], "ready\n")
		for range 2 { // the second one is ignored too
			cmd.Process.Signal(syscall.SIGTERM)
			if line := awaitLine(output, "asked to stop"); line == "" {
				t.Errorf("%q: it does not say that it was asked to stop", flags)
			}
			if code >= 0 {
				break
			}
		}
		if code < 0 {
			cmd.Process.Kill()
		}
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%q: it ended with %d, want %d", flags, got, code)
		}
	}
}

// awaitLine reads until a line that holds some words, or to the end.
func awaitLine(r *bufio.Reader, words string) (line string) {
	for err := error(nil); err == nil && !strings.Contains(line, words); {
		line, err = r.ReadString('\n')
	}
	return line
}

// await waits until a file holds some words.
func await(path, words string) {
	for data := ""; !strings.Contains(data, words); {
		b, _ := os.ReadFile(path)
		data = string(b)
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	diary := filepath.Join(t.TempDir(), "diary")
	if err := os.WriteFile(filepath.Join(dir, "news"), []byte("fresh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLOUR", "green")
	cmd, output := startHello(t, "serve", "-port", "0", "-show", dir, "-diary", diary)
	line := strings.TrimSpace(awaitLine(output, "serving on"))
	url := "http://127.0.0.1" + line[strings.LastIndex(line, ":"):]
	hostname, _ := os.Hostname()
	for _, step := range []struct{ path, want string }{
		{"/", "200 Hello from pod " + hostname + ".\nnews:\nfresh\n"},
		{"/health?ok=false", "200 "},
		{"/healthz", "500 not ok\n"},
		{"/health?ok=true", "200 "},
		{"/healthz", "200 ok\n"},
	} {
		if got := get(url + step.path); got != step.want {
			t.Errorf("GET %s: %q, want %q", step.path, got, step.want)
		}
	}
	if got := get(url + "/env"); !strings.Contains(got, "\nCOLOUR=green\n") {
		t.Errorf("GET /env: %q", got)
	}
	get(url + "/close") // ends the listener alone
	for get(url+"/healthz") != "" {
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil { // with 1 if the end of serving had ended it
		t.Errorf("asked to stop, it ended with %v", err)
	}
	await(diary, "asked to stop\n")
}

// get returns the status and the body of an answer; empty if there is none.
func get(url string) string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // else a connection outlives the listener
	resp, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}
