package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// Exec starts the command with a request of its own making: the library's goes on
// when ctx is done.
func (c *Client) Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error) {
	what := fmt.Sprintf("run %q in container %q", command, id)
	var exec *docker.Exec
	err = c.call(ctx, callLimit, what, func(ctx context.Context, api *docker.Client) (err error) {
		exec, err = api.CreateExec(docker.CreateExecOptions{
			Container: id, Cmd: command, AttachStdout: true, AttachStderr: true, Context: ctx,
		})
		return err
	})
	if err != nil {
		return 0, notStarted(err)
	}
	if err = c.startExec(ctx, what, exec.ID, out); err == nil {
		exitCode, err = c.awaitExec(ctx, what, exec.ID)
	}
	if refused := (*refusal)(nil); err != nil && !errors.As(err, &refused) {
		if begun := c.killExec(context.WithoutCancel(ctx), what, exec.ID); !begun {
			err = notStarted(err)
		}
	}
	return exitCode, err
}

func notStarted(err error) error { return fmt.Errorf("%w: %w", dockertools.ErrExecNotStarted, err) }

// startExec returns when the command has closed its output. Docker puts its words
// about a command that it cannot start there too.
func (c *Client) startExec(ctx context.Context, what, exec string, out io.Writer) error {
	// Once it has begun it may be silent for as long as it wants.
	ctx, silent, end := unlessSilent(ctx, callLimit, c.noAnswer(callLimit))
	defer end()
	return c.exchange(ctx, what, func(_ context.Context, api *docker.Client) error {
		json := http.Header{"Content-Type": {"application/json"}}
		stream, err := c.open(api, http.MethodPost, "exec/"+exec+"/start", nil, json, strings.NewReader("{}"))
		if err != nil {
			return err
		}
		defer stream.Close()
		silent.Stop()
		return copyOutput(out, stream)
	})
}

// execState is what an inspect tells of a command.
type execState struct {
	Running     bool
	ExitCode    int
	Pid         int // on Docker's host, and the reason why this is not left to the library; 0: it has not begun
	ContainerID string
}

func (c *Client) inspectExec(ctx context.Context, limit time.Duration, what, exec string) (state execState, err error) {
	err = c.getJSON(ctx, limit, what, "exec/"+exec+"/json", nil, &state)
	return state, err
}

// awaitExec asks until the command has ended: its output may be closed before.
func (c *Client) awaitExec(ctx context.Context, what, exec string) (exitCode int, err error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		state, err := c.inspectExec(ctx, callLimit, what, exec)
		if err != nil {
			return 0, err
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// copyOutput takes the marks out of what Docker sends of stdout and stderr.
func copyOutput(out io.Writer, stream io.Reader) error {
	for {
		_, size, err := readMark(stream)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.CopyN(out, stream, size); err != nil {
			return err
		}
	}
}
