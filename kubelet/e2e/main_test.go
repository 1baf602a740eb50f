// Package e2e tests the whole program on a real Docker: the binary, started as a
// user starts it, and then the state of Docker, of files and of ports.
//
// Each test works on its own host: a root_dir, a directory of manifests and a
// hostname. So tests run beside each other and beside any kubelet of the machine.
// A test removes what it makes. The containers of a test that was killed are removed
// by the first run after two hours.
package e2e

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
)

const (
	helloImage     = dockertools.HelloImage
	hostnamePrefix = "kubelet14-test-" // the pid of the test and a number follow

	testNetworkLabel = "kubelet14.test" // of the networks that tests make

	// leftoverAge is older than any test or benchmark becomes.
	leftoverAge = 2 * time.Hour
)

// buildDir holds the programs under test and the directories of all hosts.
var buildDir string

// kubeletBinary returns the path of the program under test; prepared builds it.
func kubeletBinary() string { return filepath.Join(buildDir, "kubelet14") }

func TestMain(m *testing.M) {
	// Tests mostly wait for Docker and for the kubelet, so more of them than there
	// are cores run at once. -parallel overrides this.
	flag.Set("test.parallel", fmt.Sprint(max(6, runtime.GOMAXPROCS(0))))
	dir, err := os.MkdirTemp("", "kubelet14-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	buildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// prepared builds what every test needs, once.
func prepared(tb testing.TB) {
	tb.Helper()
	unittest.Must(tb, prepare())
}

var prepare = sync.OnceValue(func() error {
	args := slices.Concat([]string{"build", "-buildvcs=auto", "-o", kubeletBinary()}, buildFlags, []string{"kubelet14"})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	client, err := connect("")
	if err != nil {
		return err
	}
	return errors.Join(registrytest.EnsureHello(client), removeLeftovers(client))
})

// removeLeftovers removes the containers and networks of tests that were killed. Their age
// identifies them: the pid in a hostname may be one of another pid namespace, where
// a test runs that uses the same Docker.
func removeLeftovers(client *docker.Client) error {
	list, err := client.ListContainers(docker.ListContainersOptions{All: true, Filters: map[string][]string{"label": {"kubelet14.hostname"}}})
	if err != nil {
		return err
	}
	for _, c := range list {
		ofTest := strings.HasPrefix(c.Labels["kubelet14.hostname"], hostnamePrefix)
		if !ofTest || time.Since(time.Unix(c.Created, 0)) < leftoverAge {
			continue
		}
		if err := client.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true, RemoveVolumes: true}); err != nil {
			return err
		}
	}
	for _, label := range []string{"kubelet14.network", testNetworkLabel} {
		filters := map[string][]string{"label": {label}, "until": {leftoverAge.String()}}
		client.PruneNetworks(docker.PruneNetworksOptions{Filters: filters}) // it fails while another one is running
	}
	return nil
}

func connect(endpoint string) (*docker.Client, error) {
	if endpoint == "" {
		return docker.NewClientFromEnv()
	}
	return docker.NewClient(endpoint)
}

// freePort returns a port of this machine that no other program gets by chance.
func freePort(t testing.TB) int {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", etcdtest.ReserveAddress(t))
	unittest.Must(t, err)
	return address.Port
}

// takePort listens on a port of this machine until release or the end of the test.
func takePort(t testing.TB) (port int, release func()) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	unittest.Must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port, func() { l.Close() }
}
