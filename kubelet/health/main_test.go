package health

import (
	"context"
	"errors"
	"io"
	"testing"

	"go.uber.org/goleak"

	"kubelet14/api"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// local is a container whose pod has the address the tests listen on.
var local = Target{PodIP: "127.0.0.1"}

func httpGet(path string, port int) *api.HTTPGetAction {
	return &api.HTTPGetAction{Path: path, Port: api.IntOrString{Int: port}}
}

func httpProbe(path string, port int) *api.LivenessProbe {
	return &api.LivenessProbe{HTTPGet: httpGet(path, port)}
}

func tcpProbe(port int) *api.LivenessProbe {
	return &api.LivenessProbe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: port}}}
}

var execProbe = &api.LivenessProbe{Exec: &api.ExecAction{Command: []string{"check", "all"}}}

// execOf is a container in which every command prints and ends so.
func execOf(output string, exitCode int, err error) Target {
	return Target{Exec: func(_ context.Context, _ []string, out io.Writer) (int, error) {
		io.WriteString(out, output)
		return exitCode, err
	}}
}

// wantResult checks a whole result.
func wantResult(t *testing.T, got Result, status Status, output string) {
	t.Helper()
	if want := (Result{status, output}); got != want {
		t.Errorf("the probe says\n%v %q, want\n%v %q", got.Status, got.Output, want.Status, want.Output)
	}
}

var errGone = errors.New("no such container")
