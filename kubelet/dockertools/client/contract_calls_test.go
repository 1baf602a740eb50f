package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"kubelet14/kubelet/dockertools"
)

func testDoneContext(t *testing.T, d *contractDocker) {
	cutOff := iotest.ErrReader(errors.New("the tar is cut off")) // so that no image is left behind
	id := d.create(t, d.spec(t, "c", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, versionErr := d.Version(ctx)
	_, listErr := d.ListContainers(ctx, nil)
	_, inspectErr := d.InspectContainer(ctx, id)
	_, createErr := d.CreateContainer(ctx, d.spec(t, "other", "sleep"))
	_, imageErr := d.InspectImage(ctx, helloImage)
	_, execErr := d.Exec(ctx, id, []string{"/hello"}, io.Discard)
	_, driverErr := d.LogDriver(ctx)
	_, statsErr := d.Stats(ctx, id)
	for call, err := range map[string]error{
		"stats":   statsErr,
		"version": versionErr,
		"list":    listErr,
		"inspect": inspectErr,
		"create":  createErr,
		"start":   d.StartContainer(ctx, id),
		"stop":    d.StopContainer(ctx, id, time.Second),
		"remove":  d.RemoveContainer(ctx, id),
		"image":   imageErr,
		"exec":    execErr,
		"logs":    d.Logs(ctx, id, wholeLog, noLine),
		"driver":  driverErr,
		"pull":    d.PullImage(ctx, helloImage, dockertools.Auth{}, func(dockertools.PullProgress) {}),
		"import":  d.ImportImage(ctx, "kubelet14/"+d.name(t, "image")+":1", cutOff),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", call, err)
		}
	}
	if err := d.WatchEvents(ctx, nil, func(dockertools.Event) {}); err != nil {
		t.Errorf("watch: %v, want none", err)
	}
	if got := d.listed(t, id).State; got != dockertools.StateCreated {
		t.Errorf("the container is %s after calls that were over before they began", got)
	}
}

func testEvents(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	spec.Labels["watched"] = "yes"
	id := d.create(t, spec)
	other := d.create(t, d.spec(t, "other", "sleep"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var stands, ours int
	ended := make(chan error)
	go func() {
		ended <- d.WatchEvents(ctx, map[string]string{labelTest: d.run, "watched": ""}, func(e dockertools.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.ID == other {
				t.Errorf("a hint at a container without the labels: %v", e)
			}
			switch e {
			case dockertools.Event{}:
				stands++
			case dockertools.Event{ID: id, Name: spec.Name}:
				ours++
			}
		})
	}()
	seen := func(count *int, atLeast int) func() (bool, string) {
		return func() (bool, string) {
			mu.Lock()
			defer mu.Unlock()
			return *count >= atLeast, "too few hints"
		}
	}
	eventually(t, "the stream stands", seen(&stands, 1))
	d.start(t, other)
	d.start(t, id)
	eventually(t, "the start is hinted at", seen(&ours, 1))
	if err := d.hands.Kill(id, 137); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the death is hinted at", seen(&ours, 2))
	if err := d.RemoveContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the removal is hinted at", seen(&ours, 3))
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the watch ended with %v, want no error", err)
	}
	if stands != 1 {
		t.Errorf("the stream stood %d times", stands)
	}
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
