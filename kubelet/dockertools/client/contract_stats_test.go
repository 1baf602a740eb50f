package client

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

func testStats(t *testing.T, d *contractDocker) {
	before := time.Now()
	id := d.running(t, d.spec(t, "c"))
	eventually(t, "it has used and got something", func() (bool, string) {
		s, err := d.Stats(t.Context(), id)
		return err == nil && s.CPU.Total > 0 && s.Network.RxBytes > 0 && s.Network.RxPackets > 0, fmt.Sprintf("%+v, %v", s, err)
	})
	first, err := d.Stats(t.Context(), id)
	if err != nil || first.Time.Before(before) || first.Time.After(time.Now()) {
		t.Errorf("measured at %v, %v", first.Time, err)
	}
	if m := first.Memory; m.WorkingSet == 0 || m.WorkingSet > m.Usage || m.Usage > 1<<30 {
		t.Errorf("memory %+v", m)
	}
	second, err := d.Stats(t.Context(), id)
	if err != nil || second.CPU.Total < first.CPU.Total || second.Network.RxBytes < first.Network.RxBytes {
		t.Errorf("%+v, and a moment later %+v, %v", first, second, err)
	}
}

func testStatsNotRunning(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "exit", "0"))
	for _, state := range []string{"created", "ended"} {
		if s, err := d.Stats(t.Context(), id); !errors.Is(err, dockertools.ErrNotRunning) {
			t.Errorf("of one that is %s: %+v, %v", state, s, err)
		}
		d.start(t, id)
		d.ended(t, id)
	}
}

func testStatsSharedNetwork(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "app")
	spec.NetworkContainer = d.running(t, d.spec(t, "net"))
	app := d.running(t, spec)
	eventually(t, "both have the same network", func() (bool, string) {
		of, err := d.Stats(t.Context(), app)
		net, netErr := d.Stats(t.Context(), spec.NetworkContainer)
		return err == nil && netErr == nil && of.Network.RxBytes > 0 && of.Network == net.Network, fmt.Sprintf("%+v, %v; %+v, %v", of, err, net, netErr)
	})
}
