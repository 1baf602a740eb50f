package e2e

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

const (
	helloImage     = "kubelet14/hello:1"
	hostnamePrefix = "kubelet14-test-" // then the pid of the test and a number
)

// kubeletBinary is the path of the program under test; prepared builds it.
var kubeletBinary string

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(relayVariable); endpoint != "" {
		serveRelay(endpoint)
		return
	}
	flag.Set("logtostderr", "true") // and no files in the directory for temporary ones
	// What tests do here is to wait, for Docker and for the kubelet; so more of them
	// than there are cores run at once. -parallel says otherwise.
	flag.Set("test.parallel", fmt.Sprint(max(6, runtime.GOMAXPROCS(0))))
	dir, err := os.MkdirTemp("", "kubelet14-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	kubeletBinary = filepath.Join(dir, "kubelet14")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// prepared returns when all that a test needs is there. It is made once, and not
// at all when no test runs that needs it.
func prepared(tb testing.TB) {
	tb.Helper()
	if err := prepare(); err != nil {
		tb.Fatal(err)
	}
}

var prepare = sync.OnceValue(func() error {
	for _, args := range [][]string{
		slices.Concat([]string{"build", "-o", kubeletBinary}, buildFlags, []string{"kubelet14"}),
		{"run", "kubelet14/manifests/hello/mkimage"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return removeLeftovers()
})

// removeLeftovers removes containers of tests that were killed: their hostname
// holds the pid of a process that is no more.
func removeLeftovers() error {
	client, err := connect("")
	if err != nil {
		return err
	}
	list, err := client.ListContainers(docker.ListContainersOptions{All: true, Filters: map[string][]string{"label": {"kubelet14.hostname"}}})
	if err != nil {
		return err
	}
	for _, c := range list {
		rest, ours := strings.CutPrefix(c.Labels["kubelet14.hostname"], hostnamePrefix)
		pid, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(pid); !ours || err != nil || alive(n) {
			continue
		}
		if err := client.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true, RemoveVolumes: true}); err != nil {
			return err
		}
	}
	return nil
}

// freePort finds a port of this machine that nobody uses now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
