package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

const (
	helloImage     = "kubelet14/hello:1"
	hostnamePrefix = "kubelet14-test-" // then the pid of the test and a number
)

// kubeletBinary is the program under test, built once.
var kubeletBinary string

func TestMain(m *testing.M) {
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func prepareAndRun(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "kubelet14-e2e-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	kubeletBinary = filepath.Join(dir, "kubelet14")
	for _, args := range [][]string{
		{"build", "-o", kubeletBinary, "kubelet14"},
		{"run", "kubelet14/manifests/hello/mkimage"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	if err := removeLeftovers(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

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
