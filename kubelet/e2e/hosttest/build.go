package hosttest

import (
	"errors"
	"flag"
	"fmt"
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
	"kubelet14/kubelet/dockertools/registrytest"
)

const (
	hostnamePrefix = "kubelet14-test-" // the pid of the test and a number follow
	networkLabel   = "kubelet14.test"  // of the networks that tests make

	// leftoverAge is older than any test or benchmark becomes.
	leftoverAge = 2 * time.Hour
)

// BuildDir holds the program under test and the directories of all hosts.
var BuildDir string

// Binary returns the path of the program under test, which Prepare builds.
func Binary() string { return filepath.Join(BuildDir, "kubelet14") }

// Main runs the tests of a package. More of them than there are cores run at once, since they mostly wait; -parallel
// overrides this.
func Main(m *testing.M) {
	flag.Set("test.parallel", fmt.Sprint(max(6, runtime.GOMAXPROCS(0))))
	dir, err := os.MkdirTemp("", "kubelet14-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	BuildDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// Prepare builds what every test needs, once.
func Prepare(tb testing.TB) {
	tb.Helper()
	unittest.Must(tb, prepare())
}

var prepare = sync.OnceValue(func() error {
	if err := Build(Binary()); err != nil {
		return err
	}
	client, err := Connect("")
	if err != nil {
		return err
	}
	return errors.Join(registrytest.EnsureHello(client), removeLeftovers(client))
})

// Build builds the program under test, with more flags of go build.
func Build(binary string, flags ...string) error {
	root, err := unittest.Root()
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"build", "-C", root, "-buildvcs=auto", "-o", binary}, buildFlags, flags, []string{"."})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

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
	for _, label := range []string{"kubelet14.network", networkLabel} {
		filters := map[string][]string{"label": {label}, "until": {leftoverAge.String()}}
		client.PruneNetworks(docker.PruneNetworksOptions{Filters: filters}) // it fails while another one is running
	}
	return nil
}

// Connect returns a client of the Docker at an address; the empty one is the machine's.
func Connect(endpoint string) (*docker.Client, error) {
	if endpoint == "" {
		return docker.NewClientFromEnv()
	}
	return docker.NewClient(endpoint)
}

// MakeNetwork makes a network as a user does, which goes with the test.
func MakeNetwork(tb testing.TB, client *docker.Client, name string) *docker.Network {
	tb.Helper()
	network, err := client.CreateNetwork(docker.CreateNetworkOptions{
		Name: fmt.Sprintf("%s%d-%s", hostnamePrefix, os.Getpid(), name), Driver: "bridge", Labels: map[string]string{networkLabel: ""},
	})
	unittest.Must(tb, err)
	tb.Cleanup(func() {
		err := client.RemoveNetwork(network.ID)
		if info, infoErr := client.NetworkInfo(network.ID); err != nil && infoErr == nil && len(info.Containers) == 0 {
			tb.Logf("Docker 20.10 keeps an endpoint of a container that is gone, until its next restart: %v", err)
		} else if err != nil {
			tb.Error(err)
		}
	})
	return network
}
