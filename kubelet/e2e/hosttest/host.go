package hosttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// MaxRestartBackoff is the longest back-off of the kubelets.
const MaxRestartBackoff = time.Second

// Host is the machine of one test or benchmark: what makes a kubelet different from
// all others, and where its pods come from.
type Host struct {
	T         testing.TB
	Binary    string
	Hostname  string
	Dir       string // holds all of the following
	RootDir   string
	Manifests string   // the directory given as -config
	Socket    string   // of the info server
	endpoint  string   // Docker's address; empty: the default
	Network   string   // of the pods; empty: the default
	Env       []string // of its programs, besides that of the test
	Docker    *docker.Client
}

var hosts atomic.Int32

// New makes a host on the machine's Docker. When the test ends, its containers
// and volumes are removed with -cleanup.
func New(t testing.TB) *Host {
	t.Helper()
	return NewOn(t, "")
}

// NewOn makes a host on the Docker at an address.
func NewOn(t testing.TB, endpoint string) *Host {
	t.Helper()
	Prepare(t)
	client, err := Connect(endpoint)
	unittest.Must(t, err)
	dir, err := os.MkdirTemp(BuildDir, "") // short: the path of a socket has at most 107 bytes
	unittest.Must(t, err)
	h := &Host{
		T: t, Binary: Binary(), Docker: client, endpoint: endpoint, Dir: dir,
		Hostname:  fmt.Sprintf("%s%d-%d", hostnamePrefix, os.Getpid(), hosts.Add(1)),
		RootDir:   filepath.Join(dir, "root"),
		Manifests: filepath.Join(dir, "manifests"),
		Socket:    filepath.Join(dir, "socket"),
	}
	unittest.Must(t, os.Mkdir(h.Manifests, 0o755))
	t.Cleanup(func() {
		h.T = t
		h.MustRun("-cleanup")
		if left := h.Containers(); len(left) > 0 {
			t.Errorf("-cleanup left %v", left)
		}
		h.Check(os.RemoveAll(dir))
	})
	return h
}

// Write puts a manifest into the directory at once. The text may use HELLO for the
// image of the demo.
func (h *Host) Write(name, text string) {
	h.T.Helper()
	h.ReplaceFile(filepath.Join(h.Manifests, name+".yaml"), strings.ReplaceAll(text, "HELLO", dockertools.HelloImage), 0o644)
}

// WriteSleepers writes the smallest pods.
func (h *Host) WriteSleepers(ids ...string) {
	h.T.Helper()
	for _, id := range ids {
		h.Write(id, Sleeper(id))
	}
}

// Remove takes manifests out of the directory.
func (h *Host) Remove(names ...string) {
	h.T.Helper()
	for _, name := range names {
		h.Must(os.Remove(filepath.Join(h.Manifests, name+".yaml")))
	}
}

// ReplaceFile replaces a file at once.
func (h *Host) ReplaceFile(path, text string, mode os.FileMode) {
	h.T.Helper()
	h.Must(os.WriteFile(path+".tmp", []byte(text), mode))
	h.Must(os.Rename(path+".tmp", path))
}

// WriteFile writes a file, and ReplaceFile one that somebody reads.
func (h *Host) WriteFile(path, text string) {
	h.T.Helper()
	h.Must(os.WriteFile(path, []byte(text), 0o644))
}

// Must ends the test if there is an error.
func (h *Host) Must(err error) {
	h.T.Helper()
	unittest.Must(h.T, err)
}

// Check reports an error and goes on.
func (h *Host) Check(err error) {
	h.T.Helper()
	if err != nil {
		h.T.Error(err)
	}
}

// Await waits until check returns nil.
func (h *Host) Await(what string, check func() error) {
	h.T.Helper()
	if err := unittest.Wait(check); err != nil {
		h.T.Fatalf("%s: %v\non Docker:\n%s", what, err, h.Describe())
	}
}

// args are the flags that make the program the kubelet of this host.
func (h *Host) args(more ...string) []string {
	args := []string{"-hostname_override=" + h.Hostname, "-root_dir=" + h.RootDir, "-address=unix:" + h.Socket, "-v=2", fmt.Sprint("-max_restart_backoff=", MaxRestartBackoff)}
	if h.endpoint != "" {
		args = append(args, "-docker_endpoint="+h.endpoint)
	}
	if h.Network != "" {
		args = append(args, "-pod_network="+h.Network)
	}
	if len(more) > 0 && !strings.HasPrefix(more[0], "-") {
		return slices.Concat(more[:1], args, more[1:]) // a word, such as ps
	}
	return append(args, more...)
}

// Command returns the program of this host with more flags, which win.
func (h *Host) Command(flags ...string) *exec.Cmd {
	cmd := exec.Command(h.Binary, h.args(flags...)...)
	cmd.Env = append(os.Environ(), h.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // with a test that is killed
	return cmd
}

// Result is what a program that has ended leaves.
type Result struct {
	Exit           int
	Stdout, Stderr string
}

// Run runs the program to its end.
func (h *Host) Run(flags ...string) Result {
	h.T.Helper()
	var stdout, stderr bytes.Buffer
	cmd := h.Command(flags...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	h.Must(cmd.Start())
	defer time.AfterFunc(2*unittest.Limit(), func() { cmd.Process.Signal(syscall.SIGQUIT) }).Stop() // it lists its goroutines
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		h.T.Fatal(err)
	}
	return Result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// MustRun runs the program and checks that it succeeds.
// Must ends the test if there is an error.
func (h *Host) MustRun(flags ...string) Result {
	h.T.Helper()
	r := h.Run(flags...)
	r.MustExit(h.T, 0)
	return r
}

// MustExit checks the exit code and that both outputs together hold some words.
func (r Result) MustExit(t testing.TB, exit int, words ...string) {
	t.Helper()
	if err := unittest.HasWords(r.Stdout+r.Stderr, words...); r.Exit != exit || err != nil {
		t.Errorf("exit %d, want %d; %v\n%s%s", r.Exit, exit, err, r.Stdout, r.Stderr)
	}
}

// Client returns a client of the info server at the host's socket. Any address does.
func (h *Host) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", h.Socket)
		},
	}}
}
