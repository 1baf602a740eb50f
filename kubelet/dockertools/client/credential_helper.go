package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"kubelet14/kubelet/dockertools"
)

const (
	helperLimit     = 10 * time.Second
	maxHelperOutput = 64 << 10 // bytes; a token has a few thousand
	maxHelperReason = 200      // characters of what it says when it fails
)

// askHelper asks the program docker-credential-<name> for what it knows of a
// registry: the name on its standard input, the answer as JSON on its output. The
// zero Auth: it knows nothing. The program has ended when askHelper returns.
func askHelper(ctx context.Context, name, server string) (dockertools.Auth, error) {
	if strings.Contains(name, "/") {
		return dockertools.Auth{}, errors.New("the name of a helper is no path")
	}
	var stdout, stderr boundedBuffer
	cmd := exec.CommandContext(ctx, "docker-credential-"+name, "get")
	cmd.Stdin = strings.NewReader(server)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// A group of its own, so that the programs a helper has started are killed with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// One that goes on when the helper has ended, such as an agent, may hold our pipes.
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the helper itself has succeeded
	}
	switch {
	case ctx.Err() != nil:
		return dockertools.Auth{}, context.Cause(ctx)
	case err != nil && strings.Contains(stdout.kept.String(), "credentials not found"):
		return dockertools.Auth{}, nil
	case err != nil:
		return dockertools.Auth{}, fmt.Errorf("%w%s", err, helperReason(stdout.kept.String()+"\n"+stderr.kept.String()))
	}
	return decodeAnswer(stdout.kept.Bytes(), server)
}

// decodeAnswer reads what a helper has printed about a registry.
func decodeAnswer(data []byte, server string) (dockertools.Auth, error) {
	var answer struct{ Username, Secret string }
	if err := json.Unmarshal(data, &answer); err != nil {
		return dockertools.Auth{}, fmt.Errorf("its answer: %w", withoutWords(err, data))
	}
	auth, err := passwordAuth(answer.Username, answer.Secret)
	switch {
	case err != nil:
		return dockertools.Auth{}, fmt.Errorf("its answer is %w", err)
	case auth == dockertools.Auth{}:
		return dockertools.Auth{}, nil
	case auth.Username == "<token>":
		auth = dockertools.Auth{IdentityToken: answer.Secret}
	}
	auth.ServerAddress = server
	return auth, nil
}

// helperReason is the first line of what a helper said when it failed. One that
// begins like an answer may hold a secret, and is not shown.
func helperReason(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" || line[0] == '{' {
		return ""
	}
	if runes := []rune(line); len(runes) > maxHelperReason {
		line = string(runes[:maxHelperReason]) + "…"
	}
	return fmt.Sprintf(": %q", line)
}

// boundedBuffer keeps the beginning of what is written to it and drops the rest,
// so that the writer is not held up.
type boundedBuffer struct{ kept bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), maxHelperOutput-b.kept.Len())])
	return len(p), nil
}
