package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test program be hello: the tests start it with a command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		main()
	}
	os.Exit(m.Run())
}

// startHello starts hello; it is killed when the test ends.
func startHello(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out), bufio.NewReader(log)
}

func TestCommandsPrintAndExit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
	}{
		{"dance", 2, ""},
		{"exit", 2, ""}, // without its argument
		{"exit 7", 7, ""},
		{"sleep -for 1ms -exit 3", 3, ""},
		{"append -for 0s " + file + " one", 0, ""},
		{"append -for 0s -exit 4 " + file + " two", 4, ""},
		{"cat " + file, 0, "one\ntwo\n"},
		{"cat " + filepath.Dir(file), 0, "file:\none\ntwo\n"},
		{"say -exit 6 " + file + " three", 6, ""},
		{"cat " + file, 0, "three"},
		{"say /nosuch/file three", 1, ""},
		{"eat -for 0s -exit 8 100000", 8, "ate 100000 bytes\n"},
		{"eat cake", 1, ""},
		{"cat /nosuch", 1, ""},
		{"flood -lines 2 -bytes 8", 0, "1 xxxxx\n2 xxxxx\n"},
		{"fetch http://127.0.0.1:1/", 1, ""},
	} {
		var stdout bytes.Buffer
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(tt.args)...)
		cmd.Stdout = &stdout
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || stdout.String() != tt.stdout {
			t.Errorf("%s: it exits with %d, want %d, and prints %q, want %q", tt.args, code, tt.code, stdout.String(), tt.stdout)
		}
	}
}

func TestSIGTERM(t *testing.T) {
	for flags, code := range map[string]int{"": 0, "-exit-on-term 5": 5, "-ignore-term": -1} {
		cmd, _, stderr := startHello(t, append(append([]string{"append"}, strings.Fields(flags)...), filepath.Join(t.TempDir(), "file"), "ready")...)
		await(t, cmd.Args[len(cmd.Args)-2], "ready\n")
		for range 2 { // the second one is ignored too
			cmd.Process.Signal(syscall.SIGTERM)
			if line := awaitLine(stderr, "asked to stop"); line == "" {
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

// awaitLine reads until a line that holds some words; it is empty if there is none.
func awaitLine(r *bufio.Reader, words string) string {
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, words) || err != nil {
			return line
		}
	}
}

// await waits until a file holds some words.
func await(t *testing.T, path, words string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		data, _ := os.ReadFile(path)
		if strings.Contains(string(data), words) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s holds %q, want %q", path, data, words)
		}
	}
}

func TestWriteContinuesTheCount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "count")
	for _, count := range []string{"1 lines", "2 lines", "3 lines"} {
		cmd, _, _ := startHello(t, "write", "-every", "1h", file)
		await(t, file, count)
		cmd.Process.Kill()
		cmd.Wait()
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	diary := filepath.Join(t.TempDir(), "diary")
	if err := os.WriteFile(filepath.Join(dir, "news"), []byte("fresh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLOUR", "green")
	cmd, stdout, _ := startHello(t, "serve", "-port", "0", "-show", dir, "-diary", diary)
	line := strings.TrimSpace(awaitLine(stdout, "serving on"))
	url := "http://127.0.0.1" + line[strings.LastIndex(line, ":"):]
	hostname, _ := os.Hostname()
	for _, step := range []struct{ path, want string }{
		{"/", "200 Hello from pod " + hostname + ".\nnews:\nfresh\n"},
		{"/health?ok=false", "200 "},
		{"/healthz", "500 not ok\n"},
		{"/health?ok=true", "200 "},
		{"/healthz", "200 ok\n"},
		{"/health?ok=rather", "400 say how it is to be, as in /health?ok=false\n"},
	} {
		if got := get(t.Context(), url+step.path); got != step.want {
			t.Errorf("GET %s: %q, want %q", step.path, got, step.want)
		}
	}
	if got := get(t.Context(), url+"/env"); !strings.Contains(got, "\nCOLOUR=green\n") {
		t.Errorf("GET /env: %q", got)
	}
	// /hang answers nobody, and /close ends the listener alone.
	ctx, cancel := context.WithCancel(t.Context())
	hung := make(chan string)
	go func() { hung <- get(ctx, url+"/hang") }()
	await(t, diary, "GET /hang\n")
	cancel()
	if answer := <-hung; answer != "" {
		t.Errorf("GET /hang answers %s", answer)
	}
	get(t.Context(), url+"/close")
	for get(t.Context(), url+"/healthz") != "" {
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil { // with 1 if the end of serving had ended it
		t.Errorf("asked to stop, it ended with %v", err)
	}
	await(t, diary, "asked to stop\n")
}

// get returns the status and the body of an answer; empty if there is none.
func get(ctx context.Context, url string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	req.Close = true // else the connection outlives the listener
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}
