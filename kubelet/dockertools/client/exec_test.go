package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/kubelet/dockertools"
)

// execDaemon plays a daemon that runs one command: start is its output, and states
// are what it is at each inspect, the last one for ever.
func execDaemon(start http.HandlerFunc, states ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/containers/web/exec":
			answer(201, `{"Id":"0123"}`)(w, r)
		case "/exec/0123/start":
			start(w, r)
		case "/exec/0123/json":
			answer(200, states[0])(w, r)
			if len(states) > 1 {
				states = states[1:]
			}
		}
	}
}

// until begins to send the output of a command, calls then, and waits for the caller
// to go away.
func until(then func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
		http.NewResponseController(w).Flush()
		then()
		<-r.Context().Done()
	}
}

func hasBegun(err error) bool { return !errors.Is(err, dockertools.ErrExecNotStarted) }

func TestExecMixesBothStreamsAndWaitsForTheEnd(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	c := clientOf(t, execDaemon(answer(200, piece(1, "one\n")+piece(2, "two\n")+piece(1, "")+piece(1, long)),
		`{"Running":true}`, `{"Running":true}`, `{"Running":false,"ExitCode":3}`))
	var out bytes.Buffer
	code, err := c.Exec(t.Context(), "web", []string{"date"}, &out)
	if want := "one\ntwo\n" + long; err != nil || code != 3 || out.String() != want {
		t.Errorf("exit code %d, %v, and %d bytes of output, want %d", code, err, out.Len(), len(want))
	}
	c = clientOf(t, execDaemon(answer(409, `{"message":"Container 0123 is not running"}`), `{"ExitCode":0}`))
	if _, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); !errors.Is(err, dockertools.ErrNotRunning) || !hasBegun(err) {
		t.Errorf("refused at its start: %v", err)
	}
}

// A busy Docker keeps commands waiting, which is no fault of their containers.
func TestExecReportsWhetherTheCommandHasRun(t *testing.T) {
	const noProcess = 4194305 // no process has this number
	for state, want := range map[string]bool{
		`{"Running":true,"Pid":0}`: false,
		"":                         false,
		fmt.Sprintf(`{"Running":true,"Pid":%d}`, noProcess): true,
	} {
		tooLong := errors.New("too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := clientOf(t, execDaemon(until(func() { cancel(tooLong) }), state))
		if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, tooLong) || hasBegun(err) != want {
			t.Errorf("%s: %v reports that the command has run: %v, want %v", state, err, hasBegun(err), want)
		}
	}
	if _, err := clientOf(t, answer(500, "")).Exec(t.Context(), "web", []string{"date"}, io.Discard); err == nil || hasBegun(err) {
		t.Errorf("not created: %v", err)
	}
}

func TestACommandMayPrintNothingForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others, start := streamOf(t, 0, true, `{"Id":"0123","ExitCode":3}`), streamOf(t, 24*time.Hour, true, "")
		c := transportOf(t, func(req *http.Request) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/start") {
				return start.network.RoundTrip(req)
			}
			return others.network.RoundTrip(req)
		})
		if code, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); code != 3 || err != nil {
			t.Errorf("exit code %d, %v", code, err)
		}
	})
}

// The contract has what is killed.
func TestExecKillsNothingElse(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as Docker starts one
	out, outErr := cmd.StdoutPipe()
	in, inErr := cmd.StdinPipe()
	must(t, outErr, inErr, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReader(out)
	answers := func(what string) {
		t.Helper()
		io.WriteString(in, "here\n")
		if line, err := lines.ReadString('\n'); line != "here\n" || err != nil {
			t.Errorf("%s: it was killed: it prints %q, %v", what, line, err)
		}
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	must(t, err)
	cgroup, _, _ := strings.Cut(string(cgroups), "\n") // in place of a container's id
	state, err := json.Marshal(execState{Running: true, Pid: cmd.Process.Pid, ContainerID: cgroup})
	must(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(execDaemon(until(cancel), string(state)))
	defer server.Close()
	c := mustClient(t, "tcp://"+server.Listener.Addr().String())
	if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	answers("its number is that of a process on Docker's host")
	for _, id := range []string{strings.Repeat("0123456789abcdef", 4), ""} {
		if err := killGroup(cmd.Process.Pid, id); err == nil {
			t.Errorf("a process that is not in container %q is killed", id)
		}
		answers("it is in another container")
	}
}
