package client

import (
	"context"
	"errors"
	"sync"
	"testing"

	"kubelet14/kubelet/dockertools"
)

func testNetwork(t *testing.T, d *contractDocker) {
	// Cleanups run in reverse: the containers go before their networks.
	name, other := d.name(t, "net"), d.name(t, "first-by-name")
	t.Cleanup(func() { must(t, d.RemoveNetwork(context.Background(), name), d.removeNet(other)) })
	spec := d.spec(t, "c", "sleep")
	spec.Network, spec.Aliases = name, []string{"web", "web.default"}
	id := d.create(t, spec)
	missing := func() {
		t.Helper()
		if err := d.StartContainer(t.Context(), id); !errors.Is(err, dockertools.ErrNoSuchNetwork) {
			t.Errorf("start without the network: %v", err)
		}
	}
	missing()
	must(t, d.MakeNetwork(t.Context(), name))
	must(t, d.RemoveNetwork(t.Context(), name)) // nothing uses it
	missing()
	must(t, d.MakeNetwork(t.Context(), name), d.MakeNetwork(t.Context(), name))
	d.start(t, id)
	must(t, d.RemoveNetwork(t.Context(), name)) // it is in use

	before, details := d.listed(t, id).Endpoint, d.checkState(t, id, dockertools.StateRunning, 0)
	must(t, d.hands.AddNetwork(other), d.MakeNetwork(t.Context(), other), d.hands.Connect(id, other))
	after := d.listed(t, id).Endpoint
	if now := d.details(t, id); now.IP == "" || now.IP != details.IP || !now.StartedAt.Equal(details.StartedAt) || after == before {
		t.Errorf("connected to another network: %+v, before %+v, endpoints %q, %q", now, details, after, before)
	}
	must(t, d.RemoveNetwork(t.Context(), other)) // MakeNetwork has not made it
	must(t, d.hands.Disconnect(id))
	if now := d.checkState(t, id, dockertools.StateRunning, 0); now.IP != "" || d.listed(t, id).Endpoint != "" {
		t.Errorf("in no network: %+v, %+v", now, d.listed(t, id))
	}
	must(t, d.hands.Connect(id, other)) // so that network is still there
}

func testHostNetwork(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	spec.Network = "host"
	id := d.create(t, spec)
	d.start(t, id)
	if details := d.checkState(t, id, dockertools.StateRunning, 0); details.IP != dockertools.HostIP() {
		t.Errorf("its address is %q, want that of the host, %q", details.IP, dockertools.HostIP())
	}
	must(t, d.StopContainer(t.Context(), id, 0)) // its program may not handle SIGTERM yet
	if details := d.details(t, id); details.IP != "" {
		t.Errorf("after its end its address is %q", details.IP)
	}
}

func testNetworkMadeAtOnce(t *testing.T, d *contractDocker) {
	name := d.name(t, "net")
	t.Cleanup(func() { must(t, d.RemoveNetwork(context.Background(), name)) })
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := d.MakeNetwork(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	spec := d.spec(t, "c", "sleep")
	spec.Network = name
	d.start(t, d.create(t, spec)) // Docker refuses a name that two networks have
}
