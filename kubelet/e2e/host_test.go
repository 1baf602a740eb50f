package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// patience is how long a test waits for what must come about. It is no limit on
// speed: nothing here takes a tenth of it.
const patience = 2 * time.Minute

// host is the world of one test or benchmark.
type host struct {
	t         testing.TB
	hostname  string
	rootDir   string
	manifests string   // the directory given as -config
	endpoint  string   // Docker's address
	env       []string // of its programs, besides that of the test
	docker    *docker.Client
}

var hosts atomic.Int32

// newHost makes a host on the machine's own Docker. Its containers and volumes are
// removed when the test ends.
func newHost(t testing.TB) *host {
	t.Helper()
	return newHostOn(t, "")
}

// newHostOn makes a host on the Docker at an address.
func newHostOn(t testing.TB, endpoint string) *host {
	t.Helper()
	prepared(t)
	client, err := connect(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h := &host{
		t:         t,
		hostname:  fmt.Sprintf("%s%d-%d", hostnamePrefix, os.Getpid(), hosts.Add(1)),
		rootDir:   filepath.Join(dir, "root"),
		manifests: filepath.Join(dir, "manifests"),
		endpoint:  endpoint,
		docker:    client,
	}
	if err := os.Mkdir(h.manifests, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r := h.run("-cleanup"); r.exit != 0 {
			t.Errorf("-cleanup: exit %d\n%s", r.exit, r.stderr)
		}
		if left := h.containers(); len(left) > 0 {
			t.Errorf("-cleanup left %v", left)
		}
	})
	return h
}

func connect(endpoint string) (*docker.Client, error) {
	if endpoint == "" {
		return docker.NewClientFromEnv()
	}
	return docker.NewClient(endpoint)
}

// write puts a manifest into the directory in one go. The text may use HELLO for
// the demo's image.
func (h *host) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.manifests, name)
	text = strings.ReplaceAll(text, "HELLO", helloImage)
	if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		h.t.Fatal(err)
	}
}

// remove takes a manifest out of the directory.
func (h *host) remove(name string) {
	h.t.Helper()
	if err := os.Remove(filepath.Join(h.manifests, name)); err != nil {
		h.t.Fatal(err)
	}
}

// args are the flags that make the program this host's kubelet.
func (h *host) args(more ...string) []string {
	args := []string{"-hostname_override=" + h.hostname, "-root_dir=" + h.rootDir, "-max_restart_backoff=1s", "-v=2", "-enable_server=false"}
	if h.endpoint != "" {
		args = append(args, "-docker_endpoint="+h.endpoint)
	}
	return append(args, more...)
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
	cmd := exec.Command(kubeletBinary, h.args(flags...)...)
	cmd.Env = append(os.Environ(), h.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		h.t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// eventually waits until check finds nothing wrong.
func (h *host) eventually(what string, check func() error) {
	h.t.Helper()
	if err := waitFor(check); err != nil {
		h.t.Fatalf("%s: still after %v: %v\non Docker:\n%s", what, patience, err, h.describe())
	}
}

func waitFor(check func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond) // between two looks, not instead of one
	}
}
