package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/golang/glog"
	"github.com/moby/moby/api/pkg/stdcopy"

	"kubelet14/kubelet/dockertools"
)

func (c *Client) Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error) {
	r := c.begin(ctx, "run %q in container %q", command, id)
	options := docker.CreateExecOptions{Container: id, Cmd: command, AttachStdout: true, AttachStderr: true, Context: r.ctx}
	exec, err := c.api.CreateExec(options)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, r.end(err))
	}
	err = r.startExec(exec.ID, out)
	// A command can close its output long before it ends.
	for wait := 5 * time.Millisecond; err == nil; wait = min(2*wait, time.Second) {
		var state execState
		if err = r.getJSON("exec/"+exec.ID+"/json", nil, &state); err == nil && !state.Running {
			return state.ExitCode, r.end(nil)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done(): // the next inspect returns its cause
		}
	}
	err = r.end(err)
	if !isAPIError(err) && !c.killExec(ctx, r.what, exec.ID) {
		err = fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, err)
	}
	return 0, err
}

// startExec returns when the command has closed its output. The library's call goes
// on when the context is done.
func (r *call) startExec(exec string, out io.Writer) error {
	header := http.Header{"Content-Type": {"application/json"}}
	body, err := r.open(http.MethodPost, "exec/"+exec+"/start", nil, header, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	r.silent = true
	defer func() { r.silent = false }()
	_, err = stdcopy.StdCopy(out, out, body)
	return err
}

// execState is what an inspect of a command returns. The library leaves out Pid.
type execState struct {
	Running     bool
	ExitCode    int
	Pid         int // on Docker's host; 0 before the start
	ContainerID string
}

// killLimit bounds how long a caller that has stopped waits for the kill: the
// kubelet must end within two seconds.
const killLimit = time.Second

// killExec kills a command whose output nobody reads any more, and reports whether
// it was started. Docker has no request for that, and starts a command whose caller
// has gone meanwhile: so this waits for its process.
func (c *Client) killExec(ctx context.Context, what, exec string) (started bool) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), killLimit, errors.New("no answer from Docker names its process"))
	defer cancel()
	r := c.begin(ctx, "%s", what)
	state := execState{Running: true}
	var err error
	for err == nil && state.Running && state.Pid == 0 {
		time.Sleep(5 * time.Millisecond)
		state = execState{}
		err = r.getJSON("exec/"+exec+"/json", nil, &state)
	}
	err = r.end(err)
	if err == nil && state.Running && state.Pid != 0 && strings.HasPrefix(c.endpoint, "unix://") {
		err = killGroup(state.Pid, state.ContainerID)
	}
	if err != nil && !isAPIError(err) {
		glog.Warningf("%s: the command may go on: %v", what, err)
	}
	return state.Pid != 0
}

// killGroup kills a process that runs in the container, with its process group:
// Docker makes each command the leader of one.
func killGroup(pid int, containerID string) error {
	cgroups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case containerID == "" || !bytes.Contains(cgroups, []byte(containerID)):
		return fmt.Errorf("process %d of this host is not in the container: Docker runs on another host or in another process namespace", pid)
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
