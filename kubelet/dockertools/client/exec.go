package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/golang/glog"
	"github.com/moby/moby/api/pkg/stdcopy"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

func (c *Client) Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error) {
	return c.ExecWith(ctx, id, command, api.Streams{Stdout: out, Stderr: out})
}

func (c *Client) ExecWith(ctx context.Context, id string, command []string, streams api.Streams) (exitCode int, err error) {
	r := c.begin(ctx, "run %q in container %q", command, id)
	options := docker.CreateExecOptions{Container: id, Cmd: command, AttachStdin: streams.Stdin != nil, AttachStdout: true, AttachStderr: true,
		Tty: streams.Terminal, DetachKeys: noDetachKeys, Context: r.ctx}
	exec, err := c.api.CreateExec(options)
	if err != nil {
		return 0, notStarted(r.end(err))
	}
	var printed head
	streams.Stdout = io.MultiWriter(streams.Stdout, &printed)
	if err = r.startExec(exec.ID, streams); isAPIError(err) {
		return 0, notStarted(r.end(err))
	}
	// A command may close its output long before it ends.
	for wait := 5 * time.Millisecond; err == nil; wait = min(2*wait, time.Second) {
		var state execState
		if err = r.getJSON("exec/"+exec.ID+"/json", nil, &state); err == nil && !state.Running {
			if failure := state.failure(printed); failure != nil {
				return 0, notStarted(r.end(failure))
			}
			return state.ExitCode, r.end(nil)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done(): // the next inspect returns its cause
		}
	}
	if err = r.end(err); isAPIError(err) {
		return 0, err
	}
	switch state := c.endExec(ctx, r.what, exec.ID); {
	case state.Pid == 0:
		err = notStarted(err)
	case !state.Running && state.ExitCode != killedExitCode:
		return state.ExitCode, nil // it ended by itself, and Docker was late to say so, as after it was frozen
	}
	return 0, err
}

func notStarted(err error) error { return fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, err) }

// noDetachKeys are more than anybody types. By Docker's own ones, Ctrl-P and Ctrl-Q, a shell would not see a Ctrl-P at once.
var noDetachKeys = strings.Repeat("ctrl-_,", 15) + "ctrl-_"

// startExec returns when the command has closed its output. It does not use the library,
// whose call continues after the context is done. With an input the connection is upgraded,
// and then it belongs to nobody else.
func (r *call) startExec(exec string, s api.Streams) error {
	header := http.Header{"Content-Type": {"application/json"}}
	var conn net.Conn
	ctx := r.ctx
	if s.Stdin != nil {
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", "tcp")
		r.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { conn = got.Conn }})
	}
	body, err := r.open(http.MethodPost, "exec/"+exec+"/start", nil, header, strings.NewReader(fmt.Sprintf(`{"Tty":%v}`, s.Terminal)))
	r.ctx = ctx // the connection of a later request is another one
	if err != nil {
		return err
	}
	r.silent = true
	defer func() { r.silent = false }()
	if s.Stdin != nil {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		go func() { // ends with the input, or when the command no longer reads it
			_, _ = io.Copy(conn, s.Stdin)
			_ = conn.(interface{ CloseWrite() error }).CloseWrite()
		}()
	}
	if !s.Terminal {
		_, err = stdcopy.StdCopy(s.Stdout, s.Stderr, body)
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var resizing sync.WaitGroup
	resizing.Go(func() { r.c.resize(ctx, exec, s.Resize) })
	defer resizing.Wait()
	defer end()
	_, err = io.Copy(s.Stdout, body)
	return err
}

// resize passes on the sizes of a terminal until ctx is done. Docker refuses one while the command is about to start, so each is tried
// until it is taken.
func (c *Client) resize(ctx context.Context, exec string, sizes <-chan api.TerminalSize) {
	for {
		select {
		case <-ctx.Done():
			return
		case size := <-sizes:
			query := url.Values{"h": {strconv.Itoa(int(size.Rows))}, "w": {strconv.Itoa(int(size.Columns))}}
			for wait := 20 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, time.Second) {
				r := c.begin(ctx, "resize the terminal of command %s", exec)
				_, err := r.open(http.MethodPost, "exec/"+exec+"/resize", query, nil, nil)
				if r.end(err) == nil {
					break
				}
				time.Sleep(wait)
			}
		}
	}
}

// execState is the result of inspecting a command. The library omits Pid.
type execState struct {
	Running     bool
	ExitCode    int
	Pid         int // on Docker's host; 0 before the start
	ContainerID string
}

// killedExitCode is that of a process that SIGKILL has ended.
const killedExitCode = 128 + int(syscall.SIGKILL)

// killLimit bounds how long a caller that gave up waits for the kill: the kubelet must
// exit within two seconds.
const killLimit = time.Second

// failure returns what Docker has printed instead of a command that it could not start, as when it was frozen meanwhile. What runc
// refuses, which begins with its name, is the command's own fault, such as a program that does not exist.
func (e *execState) failure(printed head) error {
	const neverStarted = 126
	if e.ExitCode != neverStarted || e.Pid != 0 || len(printed) == 0 || bytes.HasPrefix(printed, []byte("OCI runtime exec failed")) {
		return nil
	}
	return errors.New(strings.TrimSpace(string(printed)))
}

// head keeps the beginning of an output.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), 1000-len(*h))]...)
	return len(p), nil
}

// endExec kills a command whose output nobody reads any more, and returns what Docker says of it: no Pid if it was not started,
// and an exit code if it has ended, of which Docker may not have told before. Docker has no request for this, and may still
// start a command after its caller is gone, so endExec waits for the process.
func (c *Client) endExec(ctx context.Context, what, exec string) execState {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), killLimit, errors.New("no answer from Docker says that it has ended"))
	defer cancel()
	r := c.begin(ctx, "%s", what)
	state, killed := execState{Running: true}, false
	var err, killErr error
	for state.Running {
		time.Sleep(5 * time.Millisecond)
		var now execState
		if err = r.getJSON("exec/"+exec+"/json", nil, &now); err != nil {
			break
		}
		if state = now; state.Running && state.Pid != 0 && !killed && strings.HasPrefix(c.endpoint, "unix://") {
			killed, killErr = true, killGroup(state.Pid, state.ContainerID)
		}
	}
	if err = r.end(err); err != nil && !isAPIError(err) {
		glog.Warningf("%s: the command may still be running: %v", what, cmp.Or(killErr, err))
	}
	return state
}

// killGroup kills a process in the container together with its process group. Docker makes
// each command the leader of one.
func killGroup(pid int, containerID string) error {
	cgroups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case containerID == "" || !bytes.Contains(cgroups, []byte(containerID)):
		return fmt.Errorf("process %d of this host is not in the container: Docker runs on another host or in another PID namespace", pid)
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
