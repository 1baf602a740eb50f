package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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

// hello prepares one run. It is killed when the test ends.
func hello(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), os.Args[0], args...)
}

func TestCommandsPrintAndExit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, tt := range []struct {
		name, args string
		code       int
		stdout     string
	}{
		{"no command", "", 2, ""},
		{"an unknown command", "dance", 2, ""},
		{"too few arguments", "exit", 2, ""},
		{"exit with a code", "exit 7", 7, ""},
		{"sleep, then exit with a code", "sleep -for 1ms -exit 3", 3, ""},
		{"append makes the file", "append -for 0s " + file + " one", 0, ""},
		{"append adds to it", "append -for 0s -exit 4 " + file + " two", 4, ""},
		{"cat prints it", "cat " + file, 0, "one\ntwo\n"},
		{"cat prints a directory", "cat " + filepath.Dir(file), 0, "file:\none\ntwo\n"},
		{"say puts something else into it", "say -exit 6 " + file + " three", 6, ""},
		{"cat prints what was said", "cat " + file, 0, "three"},
		{"say where there is no directory", "say /nosuch/file three", 1, ""},
		{"eat, then exit with a code", "eat -for 0s -exit 8 100000", 8, "ate 100000 bytes\n"},
		{"eat nothing that is a number", "eat cake", 1, ""},
		{"cat of nothing", "cat /nosuch", 1, ""},
		{"flood prints as many as asked", "flood -lines 2 -bytes 8", 0, "1 xxxxx\n2 xxxxx\n"},
		{"fetch where nobody listens", "fetch http://127.0.0.1:1/", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := hello(t, strings.Fields(tt.args)...)
			if tt.args == "" {
				cmd.Args = append(cmd.Args, "") // the empty command: without arguments it would be the tests
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != tt.code || stdout.String() != tt.stdout {
				t.Errorf("it exits with %d, want %d, and prints %q, want %q; stderr: %s", code, tt.code, stdout.String(), tt.stdout, stderr.String())
			}
		})
	}
}

func TestFloodPrintsLineByLine(t *testing.T) {
	cmd := hello(t, "flood", "-lines", "2", "-bytes", "4", "-every", "1h")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := bufio.NewReader(stdout)
	if first, err := printed.ReadString('\n'); first != "1 x\n" {
		t.Errorf("first it prints %q, %v", first, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if rest, err := io.ReadAll(printed); len(rest) > 0 || err != nil {
		t.Errorf("within the hour it prints %q, %v", rest, err)
	}
	cmd.Wait()
}

// await calls done until it says yes.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestSIGTERMEndsItAsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		flags []string
		code  int
	}{
		"by default":        {nil, 0},
		"with a code":       {[]string{"-exit-on-term", "5"}, 5},
		"not when told not": {[]string{"-ignore-term"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ready")
			args := append([]string{"append"}, tt.flags...)
			cmd := hello(t, append(args, file, "ready")...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			await(t, "the file", func() bool { _, err := os.Stat(file); return err == nil })

			log := bufio.NewReader(stderr)
			for range 2 { // the second is ignored too
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				if line, err := log.ReadString('\n'); !strings.Contains(line, "asked to stop") {
					t.Fatalf("it says %q, %v", line, err)
				}
				if tt.code >= 0 {
					break
				}
			}
			if tt.code < 0 {
				cmd.Process.Kill()
			}
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("it ended with %v, want code %d", cmd.ProcessState, tt.code)
			}
		})
	}
}

func TestWriteGoesOnCountingWhereTheFileLeftIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "count")
	count := func() (n int) {
		data, _ := os.ReadFile(file)
		fmt.Sscan(string(data), &n)
		return n
	}
	run := func(every string, until int) {
		cmd := hello(t, "write", "-every", every, file)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, fmt.Sprintf("a count of %d", until), func() bool { return count() >= until })
		cmd.Process.Kill()
		cmd.Wait()
	}
	run("1ms", 3)
	was := count()
	run("1h", was+1)
	if now := count(); now != was+1 {
		t.Errorf("the count was %d and is %d after one more line", was, now)
	}
}

// startServer starts hello serve and returns its URL once it serves.
func startServer(t *testing.T, args ...string) (cmd *exec.Cmd, url string) {
	t.Helper()
	cmd = hello(t, append([]string{"serve", "-port", "0"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, "http://127.0.0.1" + strings.TrimSpace(line[strings.LastIndex(line, ":"):])
}

func TestServeShowsItsPages(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "news"), []byte("fresh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COLOUR", "green")
	cmd, url := startServer(t, "-show", dir)

	hostname, _ := os.Hostname()
	for path, want := range map[string]string{"/": "Hello from pod " + hostname + ".\nnews:\nfresh\n", "/env": "\nCOLOUR=green\n", "/healthz": "ok"} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %s\n%s\nwant %q", path, resp.Status, body, want)
		}
	}

	// Step: fetch sees the same, and tells good from bad by its code.
	if out, err := hello(t, "fetch", url+"/healthz").Output(); err != nil || string(out) != "ok\n" {
		t.Errorf("fetch: %q, %v", out, err)
	}
	if err := hello(t, "fetch", url+"/nosuch").Run(); err == nil {
		t.Error("fetch of a page that is not there exits with 0")
	}

	// Step: it exits on demand.
	http.Get(url + "/exit?code=9")
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("it ended with %v, want code 9", cmd.ProcessState)
	}
}

// status is what a GET is answered; empty when it is not.
func status(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return ""
	}
	resp.Body.Close()
	return resp.Status
}

func TestServeFallsIllAndGetsWell(t *testing.T) {
	_, url := startServer(t)
	for _, step := range []struct{ ask, healthz string }{
		{"/health?ok=false", "500 Internal Server Error"},
		{"/health?ok=true", "200 OK"},
	} {
		if got := status(url + step.ask); got != "200 OK" {
			t.Fatalf("GET %s: %s", step.ask, got)
		}
		if got := status(url + "/healthz"); got != step.healthz {
			t.Errorf("after GET %s, GET /healthz: %s, want %s", step.ask, got, step.healthz)
		}
	}
	if got, want := status(url+"/health?ok=rather"), "400 Bad Request"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestServeClosesAndGoesOnRunning(t *testing.T) {
	cmd, url := startServer(t)
	http.Get(url + "/close")
	await(t, "a connection that is refused", func() bool {
		_, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil { // with 1 when the end of serving had ended it
		t.Errorf("asked to stop, it ended with %v", err)
	}
}

func TestServeHangsUntilItsClientHasGone(t *testing.T) {
	diary := filepath.Join(t.TempDir(), "diary")
	_, url := startServer(t, "-diary", diary)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/hang", nil)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(request)
		answered <- err
	}()
	await(t, "the request", func() bool { return read(diary) == "GET /hang\n" })
	if got := status(url + "/healthz"); got != "200 OK" {
		t.Errorf("GET /healthz meanwhile: %s", got)
	}
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("GET /hang was answered: %v", err)
	}
}

// read gives what a file holds; nothing when it is not there.
func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func TestDiaryTellsWhatHappened(t *testing.T) {
	diary := filepath.Join(t.TempDir(), "diary")
	cmd, url := startServer(t, "-diary", diary)
	status(url + "/healthz?ask=nicely")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got, want := read(diary), "GET /healthz\nasked to stop\n"; got != want {
		t.Errorf("the diary is %q, want %q", got, want)
	}
}
