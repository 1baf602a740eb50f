package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// local is a command as Docker runs it, a session of its own, on this machine: a shell
// that has started another process.
type local struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
	started int    // pid of the other process
	cgroup  string // what its cgroups say of it, in place of a container's id
}

func runLocal(t *testing.T) *local {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; read line; echo $line; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	reader := bufio.NewReader(out)
	line, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	started, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	cgroup, _, _ := strings.Cut(string(cgroups), "\n")
	return &local{t: t, cmd: cmd, started: started, cgroup: cgroup, in: in, out: reader}
}

// runs says whether a process does more than wait for someone to ask how it ended.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func (l *local) isKilled() {
	l.t.Helper()
	for what, pid := range map[string]int{"the command": l.cmd.Process.Pid, "what it has started": l.started} {
		eventually(l.t, what+" is gone", func() (bool, string) { return !runs(pid), "it runs" })
	}
}

// isSpared has the shell answer, which one that was just killed does not.
func (l *local) isSpared() {
	l.t.Helper()
	io.WriteString(l.in, "here\n")
	if said, err := l.out.ReadString('\n'); said != "here\n" || err != nil || !runs(l.started) {
		l.t.Errorf("it was killed: it says %q, %v", said, err)
	}
}

func TestKillGroupKillsWhatTheCommandHasStarted(t *testing.T) {
	l := runLocal(t)
	if err := killGroup(l.cmd.Process.Pid, l.cgroup); err != nil {
		t.Error(err)
	}
	l.isKilled()
	l.cmd.Wait()
	if err := killGroup(l.cmd.Process.Pid, l.cgroup); err != nil {
		t.Errorf("once it is gone: %v", err)
	}
}

// The number that Docker tells may be that of a process on another host, or of one
// that came later.
func TestKillGroupSparesOthers(t *testing.T) {
	l := runLocal(t)
	for _, id := range []string{strings.Repeat("0123456789abcdef", 4), ""} {
		if err := killGroup(l.cmd.Process.Pid, id); err == nil {
			t.Errorf("a process that is not in container %q: no error", id)
		}
	}
	l.isSpared()
}

// goneDaemon runs one command, says that it is a process of this host, and sees its
// caller go away.
func goneDaemon(l *local, goAway func()) http.HandlerFunc {
	state, _ := json.Marshal(map[string]any{"Running": true, "Pid": l.cmd.Process.Pid, "ContainerID": l.cgroup})
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/containers/web/exec":
			answer(201, `{"Id":"0123"}`)(w, r)
		case "/exec/0123/start":
			io.Copy(io.Discard, r.Body)
			http.NewResponseController(w).Flush()
			goAway()
			<-r.Context().Done()
		case "/exec/0123/json":
			answer(200, string(state))(w, r)
		}
	}
}

func TestExecKillsWhatNobodyWaitsForOnThisHostAlone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	here := runLocal(t)
	if _, err := clientOf(t, goneDaemon(here, cancel)).Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	here.isKilled()

	ctx, cancel = context.WithCancel(t.Context())
	elsewhere := runLocal(t)
	server := httptest.NewServer(goneDaemon(elsewhere, cancel))
	defer server.Close()
	c := mustClient(t, "tcp://"+server.Listener.Addr().String())
	if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	elsewhere.isSpared()
}

// Whoever writes the output may be the one who goes away.
func TestExecKillsWhatNobodyReads(t *testing.T) {
	l := runLocal(t)
	full := errors.New("full")
	daemon := goneDaemon(l, nil)
	c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/exec/0123/start" {
			daemon(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, piece(1, "text"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	if _, err := c.Exec(t.Context(), "web", []string{"date"}, fullWriter{full}); !errors.Is(err, full) {
		t.Errorf("got %v, want the writer's error", err)
	}
	l.isKilled()
}

type fullWriter struct{ err error }

func (w fullWriter) Write([]byte) (int, error) { return 0, w.err }
