package client

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

// checkState compares what Docker tells of a container with what it should be.
func (d *contractDocker) checkState(t *testing.T, id string, state dockertools.State, exitCode int) dockertools.Details {
	t.Helper()
	details := d.details(t, id)
	if got := d.listed(t, id).State; got != state || details.ExitCode != exitCode {
		t.Errorf("the container is %s, want %s with exit code %d: %+v", got, state, exitCode, details)
	}
	return details
}

func testLife(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "sleep"))
	endpoint := func() string { return d.listed(t, id).Endpoint }

	// Created: it has never run. A stop of what does not run is no error, and does nothing.
	must(t, d.StopContainer(t.Context(), id, time.Second))
	created := d.checkState(t, id, dockertools.StateCreated, 0)
	if !created.StartedAt.IsZero() || !created.FinishedAt.IsZero() || created.Error != "" || endpoint() != "" {
		t.Errorf("created: %+v", created)
	}

	// Running, for the first time. A start of what runs is no error, and does nothing.
	d.start(t, id)
	first, firstEndpoint := d.checkState(t, id, dockertools.StateRunning, 0), endpoint()
	if first.StartedAt.IsZero() || !first.FinishedAt.IsZero() || first.Error != "" || first.IP == "" || firstEndpoint == "" {
		t.Errorf("running: %+v", first)
	}
	d.start(t, id)
	if again := d.details(t, id); !again.StartedAt.Equal(first.StartedAt) || endpoint() != firstEndpoint {
		t.Errorf("the second start has started it again: %+v, then %+v", first, again)
	}

	// Ended, twice stopped.
	must(t, d.StopContainer(t.Context(), id, time.Second), d.StopContainer(t.Context(), id, time.Second))
	ended := d.details(t, id)
	if d.listed(t, id).State != dockertools.StateExited || !ended.StartedAt.Equal(first.StartedAt) ||
		ended.FinishedAt.Before(ended.StartedAt) || ended.IP != "" || endpoint() != "" {
		t.Errorf("ended: %+v", ended)
	}

	// Running again. Each start has an endpoint of its own, also a restart between two lists.
	d.start(t, id)
	second, secondEndpoint := d.checkState(t, id, dockertools.StateRunning, 0), endpoint()
	if second.StartedAt.Before(ended.FinishedAt) || !second.FinishedAt.Equal(ended.FinishedAt) {
		t.Errorf("running for the second time: %+v; its first end: %+v", second, ended)
	}
	must(t, d.hands.Restart(id))
	if third := endpoint(); third == "" || third == secondEndpoint || secondEndpoint == firstEndpoint {
		t.Errorf("three starts have the endpoints %q, %q and %q", firstEndpoint, secondEndpoint, third)
	}
}

func testMissingCommand(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c")
	spec.Command = []string{"/no/such/command"}
	id := d.create(t, spec)
	for range 2 { // and again, with the same words
		err := d.StartContainer(t.Context(), id)
		if err == nil || errors.Is(err, dockertools.ErrNoSuchContainer) {
			t.Errorf("start: %v", err)
		}
		details := d.checkState(t, id, dockertools.StateCreated, 127)
		if details.Error == "" || !details.StartedAt.IsZero() || !details.FinishedAt.IsZero() {
			t.Errorf("after the start that failed: %+v", details)
		}
	}
	if err := d.StopContainer(t.Context(), id, time.Second); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func testFailedStartAfterRun(t *testing.T, d *contractDocker) {
	// The exit code of the run stays, but a failure is never 0.
	for ranWith, want := range map[string]int{"3": 3, "0": 128} {
		net := d.create(t, d.spec(t, "net"+ranWith, "sleep"))
		d.start(t, net)
		spec := d.spec(t, "app"+ranWith, "exit", ranWith)
		spec.NetworkContainer = net
		id := d.create(t, spec)
		d.start(t, id)
		ran := d.ended(t, id)
		must(t, d.hands.Kill(net, 137))
		d.ended(t, net)
		if err := d.StartContainer(t.Context(), id); err == nil {
			t.Error("it started without a network")
		}
		details := d.checkState(t, id, dockertools.StateExited, want)
		if details.Error == "" || !details.StartedAt.Equal(ran.StartedAt) || !details.FinishedAt.Equal(ran.FinishedAt) {
			t.Errorf("it ran %+v, and after a start that failed: %+v", ran, details)
		}
	}
}

func testEndByItself(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "exit", "3"))
	d.start(t, id)
	details := d.ended(t, id)
	// Docker may learn of a quick end before it has noted the start, so their order is not promised.
	if details.ExitCode != 3 || details.StartedAt.IsZero() || details.FinishedAt.IsZero() || details.Error != "" {
		t.Errorf("it ended with %+v", details)
	}
	if c := d.listed(t, id); !strings.HasPrefix(c.Status, "Exited (3)") || c.Endpoint != "" {
		t.Errorf("it is listed as %+v", c)
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
	} {
		spec := d.spec(t, name)
		spec.StopSignal = c.signal
		id := d.running(t, spec, c.flags...)
		began := time.Now()
		must(t, d.StopContainer(t.Context(), id, c.grace))
		if took := time.Since(began); name == "kills" && took < c.grace {
			t.Errorf("the grace of %v was over after %v", c.grace, took)
		}
		d.checkState(t, id, dockertools.StateExited, c.want)
	}
}

func testPaused(t *testing.T, d *contractDocker) {
	id := d.running(t, d.spec(t, "c"), "-exit-on-term", "7")
	endpoint := d.listed(t, id).Endpoint
	must(t, d.hands.Pause(id))
	if c := d.listed(t, id); c.State != dockertools.StatePaused || c.Endpoint != endpoint {
		t.Errorf("it is listed as %+v, its endpoint was %q", c, endpoint)
	}
	if err := d.StartContainer(t.Context(), id); err == nil {
		t.Error("a start has thawed it")
	}
	must(t, d.StopContainer(t.Context(), id, time.Hour))
	d.checkState(t, id, dockertools.StateExited, 7)
	if err := d.hands.Pause(id); err == nil {
		t.Error("an ended container was paused")
	}
}

func testRemoval(t *testing.T, d *contractDocker) {
	ended := d.create(t, d.spec(t, "ended", "exit", "0"))
	d.start(t, ended)
	d.ended(t, ended)
	paused := d.running(t, d.spec(t, "paused"), "-ignore-term")
	must(t, d.hands.Pause(paused))
	for name, id := range map[string]string{
		"created": d.create(t, d.spec(t, "created", "sleep")),
		"running": d.running(t, d.spec(t, "running"), "-ignore-term"),
		"paused":  paused,
		"ended":   ended,
	} {
		if err := d.RemoveContainer(t.Context(), id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c := d.listed(t, id); c.ID != "" {
			t.Errorf("%s: it is still listed as %+v", name, c)
		}
		if err := d.RemoveContainer(t.Context(), id); !errors.Is(err, dockertools.ErrNoSuchContainer) {
			t.Errorf("%s: second removal: %v", name, err)
		}
	}
}
