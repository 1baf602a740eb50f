package client

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

func testUnknownContainer(t *testing.T, d *contractDocker) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, call := range []string{"inspect", "exec", "stats", "start", "stop", "remove", "logs"} {
		if err := calls(d, id)[call](t.Context()); !errors.Is(err, dockertools.ErrNoSuchContainer) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v; want one that says which container there is not", call, err)
		}
	}
}

func testDoneContext(t *testing.T, d *contractDocker) {
	id := d.create(t, d.spec(t, "c", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls(d, id) {
		if err := call(ctx); errors.Is(err, context.Canceled) != (name != "events") {
			t.Errorf("%s: %v, want the context's error, and none of events", name, err)
		}
	}
	d.checkState(t, id, dockertools.StateCreated, 0)

	// A caller that stops later leaves the grace of its stop to Docker.
	id = d.running(t, d.spec(t, "running"), "-ignore-term")
	ctx, cancel = context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- d.StopContainer(ctx, id, 24*time.Hour) }()
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the stop: %v, want the context's error", err)
	}
	d.checkState(t, id, dockertools.StateRunning, 0)
}

func testEvents(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	spec.Labels["watched"] = "yes"
	id, other := d.create(t, spec), d.create(t, d.spec(t, "other", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hints := make(chan dockertools.Event, 1000)
	ended := make(chan error)
	go func() {
		ended <- d.WatchEvents(ctx, map[string]string{labelTest: d.run, "watched": ""}, func(e dockertools.Event) { hints <- e })
	}()
	next := func(what string, want dockertools.Event) {
		t.Helper()
		select {
		case got := <-hints:
			if got != want {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no hint for a minute", what)
		}
	}
	next("the stream begins", dockertools.Event{})
	d.start(t, other) // it has not the labels
	d.start(t, id)
	next("a start", dockertools.Event{ID: id, Name: spec.Name})
	must(t, d.hands.Kill(id, 137))
	next("a death", dockertools.Event{ID: id, Name: spec.Name})
	must(t, d.RemoveContainer(t.Context(), id))
	next("a removal", dockertools.Event{ID: id, Name: spec.Name})
	cancel()
	must(t, <-ended)
}

// Fifty creations under one name: one succeeds.
func testManyCallers(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	type result struct {
		id  string
		err error
	}
	results := make(chan result)
	for range 50 {
		go func() {
			id, err := d.CreateContainer(t.Context(), spec)
			results <- result{id, err}
		}()
	}
	var ids []string
	for range 50 {
		if r := <-results; r.err == nil {
			ids = append(ids, r.id)
			t.Cleanup(func() { d.RemoveContainer(context.Background(), r.id) })
		} else if !errors.Is(r.err, dockertools.ErrNameTaken) {
			t.Errorf("create: %v", r.err)
		}
	}
	if len(ids) != 1 {
		t.Fatalf("%d of fifty creations under one name succeeded, want 1", len(ids))
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := d.StartContainer(t.Context(), ids[0]); err != nil {
				t.Errorf("start: %v", err)
			}
		})
	}
	all.Wait()
}
