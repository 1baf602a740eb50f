package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// checkState compares the state of a container with the wanted one.
func (d *contractDocker) checkState(t *testing.T, id string, state dockertools.State, exitCode int) dockertools.Inspected {
	t.Helper()
	details := d.details(t, id)
	if got := d.listed(t, id).ListState; got != state || details.ExitCode != exitCode {
		t.Errorf("the container is %s, want %s with exit code %d: %+v", got, state, exitCode, details)
	}
	return details
}

// startFails starts a container, which must fail, and checks that the details have the reason.
func (d *contractDocker) startFails(t *testing.T, id string, state dockertools.State, exitCode int) dockertools.Inspected {
	t.Helper()
	if err := d.StartContainer(t.Context(), id); err == nil || errors.Is(err, dockertools.ErrNoSuchContainer) {
		t.Errorf("start: %v", err)
	}
	details := d.checkState(t, id, state, exitCode)
	if details.Error == "" || state == dockertools.StateCreated && !(details.StartedAt.IsZero() && details.FinishedAt.IsZero()) {
		t.Errorf("after the start that failed: %+v", details)
	}
	return details
}

func testLife(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "sleep"))
	endpoint := func() string { return d.listed(t, id).Endpoint }

	// Created: it has never run. To stop a container that does not run is not an error and does nothing.
	unittest.Must(t, d.StopContainer(t.Context(), id, time.Second))
	created := d.checkState(t, id, dockertools.StateCreated, 0)
	if !created.CreatedAt.Truncate(time.Second).Equal(d.listed(t, id).Created) || !created.StartedAt.IsZero() || !created.FinishedAt.IsZero() || created.Error != "" || endpoint() != "" {
		t.Errorf("created: %+v", created)
	}

	// Running for the first time. To start a running container is not an error and does nothing.
	d.start(t, id)
	first, firstEndpoint := d.checkState(t, id, dockertools.StateRunning, 0), endpoint()
	if first.StartedAt.IsZero() || !first.FinishedAt.IsZero() || first.Error != "" || first.IP == "" || firstEndpoint == "" {
		t.Errorf("running: %+v", first)
	}
	d.start(t, id)
	if again := d.details(t, id); !again.StartedAt.Equal(first.StartedAt) || endpoint() != firstEndpoint {
		t.Errorf("the second start has started it again: %+v, then %+v", first, again)
	}

	// Ended, and stopped twice.
	unittest.Must(t, d.StopContainer(t.Context(), id, time.Second), d.StopContainer(t.Context(), id, time.Second))
	ended := d.details(t, id)
	if d.listed(t, id).ListState != dockertools.StateExited || !ended.StartedAt.Equal(first.StartedAt) ||
		!ended.CreatedAt.Equal(created.CreatedAt) || ended.FinishedAt.Before(ended.StartedAt) || ended.IP != "" || endpoint() != "" {
		t.Errorf("ended: %+v", ended)
	}

	// Running again. Each start has another endpoint, even a restart between two lists.
	d.start(t, id)
	second, secondEndpoint := d.checkState(t, id, dockertools.StateRunning, 0), endpoint()
	if second.StartedAt.Before(ended.FinishedAt) || !second.FinishedAt.Equal(ended.FinishedAt) {
		t.Errorf("running for the second time: %+v; its first end: %+v", second, ended)
	}
	unittest.Must(t, d.hands.Restart(id))
	if third := endpoint(); third == "" || third == secondEndpoint || secondEndpoint == firstEndpoint {
		t.Errorf("three starts have the endpoints %q, %q and %q", firstEndpoint, secondEndpoint, third)
	}
}

func testMissingCommand(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c")
	spec.Command = []string{"/no/such/command"}
	id := d.create(t, spec)
	for range 2 {
		d.startFails(t, id, dockertools.StateCreated, 127)
	}
	unittest.Must(t, d.StopContainer(t.Context(), id, time.Second))
}

func testEndByItself(t *testing.T, d *contractDocker) {
	// A failed start leaves the exit code of the last run, but a failure never has 0.
	for ranWith, want := range map[string]int{"3": 3, "0": 128} {
		net := d.create(t, d.spec(t, "net"+ranWith, "sleep"))
		d.start(t, net)
		spec := d.spec(t, "app"+ranWith, "exit", ranWith)
		spec.NetworkContainer = net
		id := d.create(t, spec)
		d.start(t, id)
		ran := d.ended(t, id)
		// Docker may learn of a quick end before it has recorded the start, so their order is not promised.
		if fmt.Sprint(ran.ExitCode) != ranWith || ran.StartedAt.IsZero() || ran.FinishedAt.IsZero() || ran.Error != "" {
			t.Errorf("it ended with %+v", ran)
		}
		if c := d.listed(t, id); !strings.HasPrefix(c.Status, "Exited ("+ranWith+")") {
			t.Errorf("it is listed as %+v", c)
		}
		unittest.Must(t, d.hands.Kill(net, 137))
		d.ended(t, net)
		details := d.startFails(t, id, dockertools.StateExited, want)
		if !details.StartedAt.Equal(ran.StartedAt) || !details.FinishedAt.Equal(ran.FinishedAt) {
			t.Errorf("it ran %+v, and after a start that failed: %+v", ran, details)
		}
	}
}

func testStop(t *testing.T, d *contractDocker) {
	for name, c := range map[string]struct {
		signal string
		flags  []string
		grace  time.Duration
		want   int
	}{
		"asks":   {"", []string{"-exit-on-term", "7"}, time.Hour, 7},
		"kills":  {"", []string{"-ignore-term"}, time.Second, 137},
		"signal": {"SIGKILL", []string{"-ignore-term"}, time.Hour, 137},
		"paused": {"", []string{"-exit-on-term", "7"}, time.Hour, 7},
	} {
		spec := d.spec(t, name)
		spec.StopSignal = c.signal
		id := d.running(t, spec, c.flags...)
		if name == "paused" {
			d.pause(t, id)
		}
		began := time.Now()
		unittest.Must(t, d.StopContainer(t.Context(), id, c.grace))
		if took := time.Since(began); name == "kills" && took < c.grace {
			t.Errorf("the grace of %v was over after %v", c.grace, took)
		}
		d.checkState(t, id, dockertools.StateExited, c.want)
		if err := d.hands.Pause(id); err == nil {
			t.Error("an ended container was paused")
		}
	}
}

// pause pauses a container, which then cannot be started.
func (d *contractDocker) pause(t *testing.T, id string) {
	t.Helper()
	endpoint := d.listed(t, id).Endpoint
	unittest.Must(t, d.hands.Pause(id))
	if c := d.listed(t, id); c.ListState != dockertools.StatePaused || c.Endpoint != endpoint {
		t.Errorf("it is listed as %+v, its endpoint was %q", c, endpoint)
	}
	if err := d.StartContainer(t.Context(), id); err == nil {
		t.Error("a start has unpaused it")
	}
}

// A container in each state is measured, runs a command and is removed.
func testEveryState(t *testing.T, d *contractDocker) {
	ended := d.create(t, d.spec(t, "ended", "exit", "0"))
	d.start(t, ended)
	d.ended(t, ended)
	paused := d.running(t, d.spec(t, "paused"), "-ignore-term")
	unittest.Must(t, d.hands.Pause(paused))
	for state, id := range map[dockertools.State]string{
		dockertools.StateCreated: d.create(t, d.spec(t, "created", "sleep")),
		dockertools.StateRunning: d.running(t, d.spec(t, "running"), "-ignore-term"),
		dockertools.StatePaused:  paused,
		dockertools.StateExited:  ended,
	} {
		if _, err := d.Stats(t.Context(), id); errors.Is(err, dockertools.ErrNotRunning) == state.Live() {
			t.Errorf("measured while %s: %v", state, err)
		}
		_, err := d.Exec(t.Context(), id, []string{"/hello", "exit", "0"}, io.Discard)
		if (err == nil) != (state == dockertools.StateRunning) || errors.Is(err, dockertools.ErrNotRunning) == state.Live() ||
			errors.Is(err, dockertools.ErrNoSuchContainer) || err != nil && !strings.Contains(err.Error(), id) {
			t.Errorf("a command in a container that is %s: %v; want an error that names it, but none while it runs", state, err)
		}
		if err := d.RemoveContainer(t.Context(), id); err != nil || d.listed(t, id).ID != "" {
			t.Errorf("%s: removed with %v, and listed as %+v", state, err, d.listed(t, id))
		}
		if err := d.RemoveContainer(t.Context(), id); !errors.Is(err, dockertools.ErrNoSuchContainer) {
			t.Errorf("%s: second removal: %v", state, err)
		}
	}
}

func testNetworkContainerNotRunning(t *testing.T, d *contractDocker) {
	name, netID := d.name(t, "net"), d.create(t, d.spec(t, "net", "sleep"))
	spec := d.spec(t, "app", "sleep")
	spec.NetworkContainer = netID
	app := d.create(t, spec) // it need not run for the creation
	if details := d.startFails(t, app, dockertools.StateCreated, 128); !strings.Contains(details.Error, netID) && !strings.Contains(details.Error, name) {
		t.Errorf("the reason %q names neither %s nor %s", details.Error, netID, name)
	}

	// Once that one runs, even paused, the start succeeds and the reason is gone.
	d.start(t, netID)
	unittest.Must(t, d.hands.Pause(netID))
	d.start(t, app)
	if details := d.checkState(t, app, dockertools.StateRunning, 0); details.Error != "" || details.IP != "" {
		t.Errorf("running in another's network: %+v", details)
	}
	if c := d.listed(t, app); c.Endpoint != "" {
		t.Errorf("it has an endpoint of its own: %+v", c)
	}

	// It keeps running when the container whose network it has is gone.
	unittest.Must(t, d.RemoveContainer(t.Context(), netID))
	d.checkState(t, app, dockertools.StateRunning, 0)
	unittest.Must(t, d.hands.Kill(app, 137))
	d.ended(t, app)
	if err := d.StartContainer(t.Context(), app); err == nil {
		t.Error("it started in the network of a container that is gone")
	}
}

func testPorts(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	everywhere, local := freePort(t), freePort(t)
	spec.Ports = []api.Port{
		{HostPort: everywhere, ContainerPort: 80, Protocol: api.ProtocolTCP},
		{HostIP: "127.0.0.1", HostPort: local, ContainerPort: 53, Protocol: api.ProtocolUDP},
	}
	id := d.create(t, spec)
	check := func(when string, want ...api.Port) {
		t.Helper()
		byPort := cmpopts.SortSlices(func(a, b api.Port) bool { return a.HostPort < b.HostPort })
		if diff := cmp.Diff(want, d.listed(t, id).Ports, byPort, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("ports when %s (-want +got):\n%s", when, diff)
		}
	}
	check("created")
	d.start(t, id)
	check("running", spec.Ports...)
	unittest.Must(t, d.hands.Pause(id))
	check("paused", spec.Ports...)
	unittest.Must(t, d.StopContainer(t.Context(), id, time.Second))
	check("ended")
}

func testTakenPort(t *testing.T, d *contractDocker) {
	for i, c := range []struct {
		holderIP, otherIP string
		protocol          api.Protocol
		taken             bool
	}{
		{"", "", "TCP", true}, {"", "127.0.0.1", "TCP", true}, {"127.0.0.1", "0.0.0.0", "TCP", true},
		{"127.0.0.1", "127.0.0.2", "TCP", false}, {"", "", "UDP", false},
	} {
		port := freePort(t)
		withPort := func(name, hostIP string, protocol api.Protocol) (id string) {
			spec := d.spec(t, fmt.Sprint(name, i), "sleep")
			spec.Ports = []api.Port{{HostIP: hostIP, HostPort: port, ContainerPort: 80, Protocol: protocol}}
			return d.create(t, spec)
		}
		holder, other := withPort("holder", c.holderIP, "TCP"), withPort("other", c.otherIP, c.protocol)
		d.start(t, holder)
		if !c.taken {
			d.start(t, other)
			continue
		}
		details := d.startFails(t, other, dockertools.StateCreated, 128)
		if !strings.Contains(details.Error, fmt.Sprint(port)) || len(d.listed(t, other).Ports) != 0 {
			t.Errorf("%q and %q: the reason does not name port %d: %+v", c.holderIP, c.otherIP, port, details)
		}
		// The port is free again when its holder ends.
		unittest.Must(t, d.hands.Kill(holder, 137))
		d.ended(t, holder)
		d.start(t, other)
		if details := d.checkState(t, other, dockertools.StateRunning, 0); details.Error != "" {
			t.Errorf("it runs with the old reason: %+v", details)
		}
	}
}

// freePort finds a free port. Two test processes must not find the same one at the same time, so each begins elsewhere,
// and outside the range from which Linux gives ports to programs that ask for any.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 20000 + rand.IntN(10000)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func testNetwork(t *testing.T, d *contractDocker) {
	// Cleanups run in reverse: the containers go before their networks.
	name, other := d.name(t, "net"), d.name(t, "first-by-name")
	t.Cleanup(func() { unittest.Must(t, d.RemoveNetwork(context.Background(), name), d.removeNet(other)) })
	spec := d.spec(t, "c", "sleep")
	spec.Network, spec.Aliases, spec.Labels[dockertools.LabelNetwork] = name, []string{"web", "web.default"}, name
	id := d.create(t, spec)
	missing := func() {
		t.Helper()
		if err := d.StartContainer(t.Context(), id); !errors.Is(err, dockertools.ErrNoSuchNetwork) {
			t.Errorf("start without the network: %v", err)
		}
	}
	missing()
	unittest.Must(t, d.MakeNetwork(t.Context(), name))
	unittest.Must(t, d.RemoveNetwork(t.Context(), name)) // nothing uses it
	missing()
	unittest.Must(t, d.MakeNetwork(t.Context(), name), d.MakeNetwork(t.Context(), name))
	d.start(t, id)
	unittest.Must(t, d.RemoveNetwork(t.Context(), name)) // it is in use

	before, details := d.listed(t, id).Endpoint, d.checkState(t, id, dockertools.StateRunning, 0)
	unittest.Must(t, d.hands.AddNetwork(other), d.MakeNetwork(t.Context(), other), d.hands.Connect(id, other))
	after := d.listed(t, id).Endpoint
	if now := d.details(t, id); now.IP == "" || now.IP != details.IP || !now.StartedAt.Equal(details.StartedAt) || after != before {
		t.Errorf("connected to another network: %+v, before %+v, endpoints %q, %q", now, details, after, before)
	}
	unittest.Must(t, d.RemoveNetwork(t.Context(), other)) // MakeNetwork has not made it
	unittest.Must(t, d.hands.Disconnect(id, name))
	d.checkState(t, id, dockertools.StateRunning, 0)
	if got := d.listed(t, id).Endpoint; got != "" {
		t.Errorf("in the other network alone, its endpoint is %q", got)
	}
}

func testHostNetwork(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	spec.Network = "host"
	id := d.create(t, spec)
	d.start(t, id)
	if details := d.checkState(t, id, dockertools.StateRunning, 0); details.IP != dockertools.HostIP() {
		t.Errorf("its address is %q, want that of the host, %q", details.IP, dockertools.HostIP())
	}
	app := d.spec(t, "app", "sleep")
	app.NetworkContainer = id
	d.start(t, d.create(t, app))
	unittest.Must(t, d.StopContainer(t.Context(), id, 0)) // its program may not handle SIGTERM yet
	if details := d.details(t, id); details.IP != "" {
		t.Errorf("after its end its address is %q", details.IP)
	}
}

func testNetworkMadeAtOnce(t *testing.T, d *contractDocker) {
	name := d.name(t, "net")
	t.Cleanup(func() { unittest.Must(t, d.RemoveNetwork(context.Background(), name)) })
	var all errgroup.Group
	for range 5 {
		all.Go(func() error { return d.MakeNetwork(t.Context(), name) })
	}
	unittest.Must(t, all.Wait())
	spec := d.spec(t, "c", "sleep")
	spec.Network = name
	d.start(t, d.create(t, spec)) // Docker refuses a name that two networks have
}
