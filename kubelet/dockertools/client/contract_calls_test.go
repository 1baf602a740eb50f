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
		"rename":  d.RenameContainer(ctx, id, d.name(t, "other")),
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
	if got := d.list(t, nil)[id].State; got != dockertools.StateCreated {
		t.Errorf("the container is %s after calls that were over before they began", got)
	}
}

func testCallerGoesAway(t *testing.T, d *contractDocker) {
	id := d.running(t, d.spec(t, "c"), "-ignore-term")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- d.StopContainer(ctx, id, 24*time.Hour) }()
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("the stop: %v, want the context's error", err)
	}
	if c := d.listed(t, id); c.State != dockertools.StateRunning {
		t.Errorf("the container is %+v long before its grace is over", c)
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

func testManyCallers(t *testing.T, d *contractDocker) {
	spec := d.spec(t, "c", "sleep")
	var mu sync.Mutex
	var id string
	errs := map[string][]error{}
	// together makes one call from fifty goroutines and returns those that failed.
	together := func(call string, f func() error) []error {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := f(); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs[call] = append(errs[call], err)
				}
			})
		}
		wg.Wait()
		return errs[call]
	}
	failed := together("create", func() error {
		made, err := d.CreateContainer(t.Context(), spec)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			id = made
		}
		return err
	})
	defer d.RemoveContainer(context.Background(), id)
	for _, err := range failed {
		if !errors.Is(err, dockertools.ErrNameTaken) {
			t.Errorf("create: %v", err)
		}
	}
	if len(failed) != 49 || len(d.list(t, nil)) == 0 {
		t.Fatalf("%d of fifty creations under one name failed, want all but one", len(failed))
	}
	for _, step := range []struct {
		call string
		f    func() error
	}{
		{"start", func() error { return d.StartContainer(t.Context(), id) }},
		{"list", func() error { _, err := d.ListContainers(t.Context(), spec.Labels); return err }},
		{"inspect", func() error { _, err := d.InspectContainer(t.Context(), id); return err }},
		{"stop", func() error { return d.StopContainer(t.Context(), id, time.Second) }},
	} {
		if failed := together(step.call, step.f); len(failed) > 0 {
			t.Errorf("%s: %d of fifty failed: %v", step.call, len(failed), failed[0])
		}
	}
	// Docker may answer to several that they have removed it.
	if failed := together("remove", func() error { return d.RemoveContainer(t.Context(), id) }); len(failed) == 50 {
		t.Errorf("all of fifty removals failed: %v", failed[0])
	}
	if _, err := d.InspectContainer(t.Context(), id); !errors.Is(err, dockertools.ErrNoSuchContainer) {
		t.Errorf("after fifty removals it is there: %v", err)
	}
}
