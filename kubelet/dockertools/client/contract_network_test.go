package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

func testSharedNetwork(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "net", "serve", "-port", "8080")
	spec.Hostname = "shared"
	netID := d.create(t, spec)
	d.start(t, netID)
	var apps []string
	for _, name := range []string{"one", "two"} {
		spec := d.spec(t, name, "fetch", "-try", "1m", "http://localhost:8080/healthz")
		spec.NetworkContainer = netID
		id := d.create(t, spec)
		d.start(t, id)
		apps = append(apps, id)
	}
	for _, id := range apps {
		if details := d.ended(t, id); details.ExitCode != 0 {
			t.Errorf("localhost did not answer: %+v", details)
		}
	}
}

func testNetworkContainerNotRunning(t *testing.T, d *contractDocker) {
	netID := d.create(t, d.spec(t, "net", "sleep"))
	spec := d.spec(t, "app", "sleep")
	spec.NetworkContainer = netID
	app := d.create(t, spec) // it need not run for the creation

	if err := d.StartContainer(t.Context(), app); err == nil || errors.Is(err, dockertools.ErrNoSuchContainer) {
		t.Errorf("start: %v", err)
	}
	details := d.checkState(t, app, dockertools.StateCreated, 128)
	if !strings.Contains(details.Error, netID) || !details.StartedAt.IsZero() {
		t.Errorf("the reason %q does not name %s: %+v", details.Error, netID, details)
	}

	// Once it runs, also paused, the start goes well, and the reason is gone.
	d.start(t, netID)
	if err := d.hands.Pause(netID); err != nil {
		t.Fatal(err)
	}
	d.start(t, app)
	if details := d.checkState(t, app, dockertools.StateRunning, 0); details.Error != "" || details.IP != "" {
		t.Errorf("running in another's network: %+v", details)
	}
	if c := d.listed(t, app); c.Endpoint != "" {
		t.Errorf("it has an endpoint of its own: %+v", c)
	}

	// It outlives the one whose network it is in.
	if err := d.RemoveContainer(t.Context(), netID); err != nil {
		t.Fatal(err)
	}
	d.checkState(t, app, dockertools.StateRunning, 0)
	if err := d.hands.Kill(app, 137); err != nil {
		t.Fatal(err)
	}
	d.ended(t, app)
	if err := d.StartContainer(t.Context(), app); err == nil {
		t.Error("it started in the network of a container that is gone")
	}
}

func testEndpoints(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "sleep"))
	seen := map[string]bool{"": true}
	if c := d.listed(t, id); c.Endpoint != "" {
		t.Errorf("created: %+v", c)
	}
	d.start(t, id)
	for range 3 {
		c := d.listed(t, id)
		if seen[c.Endpoint] {
			t.Errorf("no new endpoint: %+v", c)
		}
		seen[c.Endpoint] = true
		if err := d.hands.Restart(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.StopContainer(t.Context(), id, time.Second); err != nil {
		t.Fatal(err)
	}
	if c := d.listed(t, id); c.Endpoint != "" {
		t.Errorf("ended: %+v", c)
	}
}

func testPorts(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	everywhere, local := freePort(t), freePort(t)
	spec.Ports = []dockertools.PublishedPort{
		{HostPort: everywhere, ContainerPort: 80, Protocol: "tcp"},
		{HostIP: "127.0.0.1", HostPort: local, ContainerPort: 53, Protocol: "udp"},
	}
	id := d.create(t, spec)
	check := func(when string, want ...dockertools.PublishedPort) {
		t.Helper()
		got := map[dockertools.PublishedPort]bool{}
		for _, p := range d.listed(t, id).Ports {
			got[p] = true
		}
		wanted := map[dockertools.PublishedPort]bool{}
		for _, p := range want {
			wanted[p] = true
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("ports when %s (-want +got):\n%s", when, diff)
		}
	}
	check("created")
	d.start(t, id)
	check("running", spec.Ports...)
	if err := d.hands.Pause(id); err != nil {
		t.Fatal(err)
	}
	check("paused", spec.Ports...)
	if err := d.StopContainer(t.Context(), id, time.Second); err != nil {
		t.Fatal(err)
	}
	check("ended")
}

func testTakenPort(t *testing.T, d *contractDocker) {
	for i, c := range []struct {
		holderIP, otherIP, protocol string
		taken                       bool
	}{
		{"", "", "tcp", true}, {"", "127.0.0.1", "tcp", true}, {"127.0.0.1", "0.0.0.0", "tcp", true},
		{"127.0.0.1", "127.0.0.2", "tcp", false}, {"", "", "udp", false},
	} {
		port := freePort(t)
		withPort := func(name, hostIP, protocol string) (id string) {
			spec := d.spec(t, fmt.Sprint(name, i), "sleep")
			spec.Ports = []dockertools.PublishedPort{{HostIP: hostIP, HostPort: port, ContainerPort: 80, Protocol: protocol}}
			return d.create(t, spec)
		}
		holder, other := withPort("holder", c.holderIP, "tcp"), withPort("other", c.otherIP, c.protocol)
		d.start(t, holder)
		if !c.taken {
			d.start(t, other)
			continue
		}
		if err := d.StartContainer(t.Context(), other); err == nil {
			t.Fatalf("%q and %q: both have the port", c.holderIP, c.otherIP)
		}
		details := d.checkState(t, other, dockertools.StateCreated, 128)
		if !strings.Contains(details.Error, fmt.Sprint(port)) || !details.StartedAt.IsZero() || len(d.listed(t, other).Ports) != 0 {
			t.Errorf("the reason does not name port %d: %+v", port, details)
		}
		// The port is free again when its holder ends.
		if err := d.hands.Kill(holder, 137); err != nil {
			t.Fatal(err)
		}
		d.ended(t, holder)
		d.start(t, other)
		if details := d.checkState(t, other, dockertools.StateRunning, 0); details.Error != "" {
			t.Errorf("it runs with the old reason: %+v", details)
		}
	}
}

// freePort finds a port that nobody holds. Two test processes that look at once
// must not find the same one, so each begins elsewhere; and none is in the range
// from which Linux gives ports to whoever asks for any.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}
