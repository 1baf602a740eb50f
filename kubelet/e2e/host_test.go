package e2e

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
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

// host is the machine of one test or benchmark: what makes a kubelet different from
// all others, and where its pods come from.
type host struct {
	t         testing.TB
	binary    string
	hostname  string
	dir       string // holds all of the following
	rootDir   string
	manifests string   // the directory given as -config
	socket    string   // of the info server
	endpoint  string   // Docker's address; empty: the default
	network   string   // of the pods; empty: the default
	env       []string // of its programs, besides that of the test
	docker    *docker.Client
	web       *webServer       // nil: none
	etcd      *etcdtest.Server // nil: none
}

var hosts atomic.Int32

// newHost makes a host on the machine's Docker. When the test ends, its containers
// and volumes are removed with -cleanup.
func newHost(t testing.TB) *host {
	t.Helper()
	return newHostOn(t, "")
}

// newHostOn makes a host on the Docker at an address.
func newHostOn(t testing.TB, endpoint string) *host {
	t.Helper()
	prepared(t)
	client, err := connect(endpoint)
	unittest.Must(t, err)
	dir, err := os.MkdirTemp(buildDir, "") // short: the path of a socket has at most 107 bytes
	unittest.Must(t, err)
	h := &host{
		t: t, binary: kubeletBinary(), docker: client, endpoint: endpoint, dir: dir,
		hostname:  fmt.Sprintf("%s%d-%d", hostnamePrefix, os.Getpid(), hosts.Add(1)),
		rootDir:   filepath.Join(dir, "root"),
		manifests: filepath.Join(dir, "manifests"),
		socket:    filepath.Join(dir, "socket"),
	}
	unittest.Must(t, os.Mkdir(h.manifests, 0o755))
	t.Cleanup(func() {
		h.t = t
		h.mustRun("-cleanup")
		if left := h.containers(); len(left) > 0 {
			t.Errorf("-cleanup left %v", left)
		}
		h.check(os.RemoveAll(dir))
	})
	return h
}

// write puts a manifest into the directory at once. The text may use HELLO for the
// image of the demo.
func (h *host) write(name, text string) {
	h.t.Helper()
	h.replaceFile(filepath.Join(h.manifests, name+".yaml"), strings.ReplaceAll(text, "HELLO", helloImage), 0o644)
}

func (h *host) writeSleepers(ids ...string) {
	h.t.Helper()
	for _, id := range ids {
		h.write(id, sleeper(id))
	}
}

// remove takes manifests out of the directory.
func (h *host) remove(names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.must(os.Remove(filepath.Join(h.manifests, name+".yaml")))
	}
}

// replaceFile replaces a file at once.
func (h *host) replaceFile(path, text string, mode os.FileMode) {
	h.t.Helper()
	h.must(os.WriteFile(path+".tmp", []byte(text), mode))
	h.must(os.Rename(path+".tmp", path))
}

func (h *host) writeFile(path, text string) {
	h.t.Helper()
	h.must(os.WriteFile(path, []byte(text), 0o644))
}

func (h *host) must(err error) {
	h.t.Helper()
	unittest.Must(h.t, err)
}

// check reports an error and goes on.
func (h *host) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Error(err)
	}
}

// await waits until check returns nil.
func (h *host) await(what string, check func() error) {
	h.t.Helper()
	if err := unittest.Wait(check); err != nil {
		h.t.Fatalf("%s: %v\non Docker:\n%s", what, err, h.describe())
	}
}

// args are the flags that make the program the kubelet of this host.
func (h *host) args(more ...string) []string {
	args := []string{"-hostname_override=" + h.hostname, "-root_dir=" + h.rootDir, "-address=unix:" + h.socket, "-v=2"}
	args = append(args, "-max_restart_backoff=1s")
	if h.endpoint != "" {
		args = append(args, "-docker_endpoint="+h.endpoint)
	}
	if h.network != "" {
		args = append(args, "-pod_network="+h.network)
	}
	return append(args, more...)
}

func (h *host) command(flags ...string) *exec.Cmd {
	cmd := exec.Command(h.binary, h.args(flags...)...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // with a test that is killed
	return cmd
}

// result is what a program that has ended leaves.
type result struct {
	exit           int
	stdout, stderr string
}

// run runs the program to its end.
func (h *host) run(flags ...string) result {
	h.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := h.command(flags...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	h.must(cmd.Start())
	defer time.AfterFunc(2*unittest.Limit(), func() { cmd.Process.Signal(syscall.SIGQUIT) }).Stop() // it lists its goroutines
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustRun runs the program and checks that it succeeds.
func (h *host) mustRun(flags ...string) result {
	h.t.Helper()
	r := h.run(flags...)
	r.mustExit(h.t, 0)
	return r
}

// mustExit checks the exit code and that both outputs together hold some words.
func (r result) mustExit(t testing.TB, exit int, words ...string) {
	t.Helper()
	if err := hasWords(r.stdout+r.stderr, words); r.exit != exit || err != nil {
		t.Errorf("exit %d, want %d; %v\n%s%s", r.exit, exit, err, r.stdout, r.stderr)
	}
}

func hasWords(text string, words []string) error {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("no %q in %q", word, text)
		}
	}
	return nil
}

// client returns a client of the info server at the host's socket. Any address does.
func (h *host) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", h.socket)
		},
	}}
}
