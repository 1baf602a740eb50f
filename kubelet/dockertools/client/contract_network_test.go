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
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubelet14/kubelet/dockertools"
)

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
	must(t, d.hands.Pause(netID))
	d.start(t, app)
	if details := d.checkState(t, app, dockertools.StateRunning, 0); details.Error != "" || details.IP != "" {
		t.Errorf("running in another's network: %+v", details)
	}
	if c := d.listed(t, app); c.Endpoint != "" {
		t.Errorf("it has an endpoint of its own: %+v", c)
	}

	// It outlives the one whose network it is in.
	must(t, d.RemoveContainer(t.Context(), netID))
	d.checkState(t, app, dockertools.StateRunning, 0)
	must(t, d.hands.Kill(app, 137))
	d.ended(t, app)
	if err := d.StartContainer(t.Context(), app); err == nil {
		t.Error("it started in the network of a container that is gone")
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
		byPort := cmpopts.SortSlices(func(a, b dockertools.PublishedPort) bool { return a.HostPort < b.HostPort })
		if diff := cmp.Diff(want, d.listed(t, id).Ports, byPort, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("ports when %s (-want +got):\n%s", when, diff)
		}
	}
	check("created")
	d.start(t, id)
	check("running", spec.Ports...)
	must(t, d.hands.Pause(id))
	check("paused", spec.Ports...)
	must(t, d.StopContainer(t.Context(), id, time.Second))
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
		must(t, d.hands.Kill(holder, 137))
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
