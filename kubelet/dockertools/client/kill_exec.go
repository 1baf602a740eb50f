package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/golang/glog"
)

// killExecLimit is how long the caller of a command is kept, who wants to wait no
// more, until it is killed. It must leave time for the kubelet to end in two seconds.
const killExecLimit = time.Second

// killExec kills a command whose output nobody reads any more, and says whether it had
// begun. Docker has no request for that, and lets it run for as long as its container
// does.
func (c *Client) killExec(ctx context.Context, what, exec string) (begun bool) {
	ctx, cancel := context.WithTimeout(ctx, killExecLimit)
	defer cancel()
	state, err := c.inspectExec(ctx, killExecLimit, what, exec)
	begun = state.Pid != 0
	if !strings.HasPrefix(c.endpoint, "unix://") {
		return begun // its processes are those of another host
	}
	if err == nil && !begun {
		state, err = c.begunExec(ctx, what, exec)
	}
	if err == nil && state.Running {
		err = killInContainer(state.Pid, state.ContainerID)
	}
	if refused := (*refusal)(nil); err != nil && !errors.As(err, &refused) { // Docker refuses when its container is gone
		glog.Warningf("%s: nobody waits for it any more, and it may go on: %v", what, err)
	}
	return begun
}

// begunExec waits for a command that Docker is about to start: the request may have
// been given up while it was on its way.
func (c *Client) begunExec(ctx context.Context, what, exec string) (execState, error) {
	for {
		state, err := c.inspectExec(ctx, killExecLimit, what, exec)
		if err != nil || state.Pid != 0 {
			return state, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			if state.Running {
				return state, errors.New("it is about to be started")
			}
			return state, nil // then it has failed to start
		}
	}
}

// killInContainer kills a process of this host and its process group, provided that
// it runs in the container.
func killInContainer(pid int, containerID string) error {
	// It stays this process's handle when the number goes to another one.
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer process.Release()
	cgroups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if containerID == "" || !bytes.Contains(cgroups, []byte(containerID)) {
		return fmt.Errorf("process %d of this host is not in the container: Docker counts the processes of another one", pid)
	}
	// Docker makes a command the leader of a group, in which what it starts is too. A
	// number is not given away while a group has it.
	if group, err := syscall.Getpgid(pid); err == nil && group == pid {
		err := syscall.Kill(-pid, syscall.SIGKILL)
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	err = process.Signal(syscall.SIGKILL)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
