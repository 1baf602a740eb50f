package config

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"kubelet14/api"
)

// testPodConfig runs a test in a bubble. Everything must end with the context, also
// what waits for a receiver.
func testPodConfig(t *testing.T, mode PodConfigNotificationMode, test func(ctx context.Context, config *PodConfig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		config := NewPodConfig(mode)
		test(ctx, config)
		stop()
		config.Wait()
	})
}

func set(pods ...api.Pod) api.PodUpdate { return api.PodUpdate{Op: api.SET, Pods: pods} }

// sender is a source that sends what the test does.
type sender struct {
	Source
	name string
	sent chan api.PodUpdate
}

func (s sender) Status() api.SourceStatus {
	synctest.Wait() // gives a source that runs already the time to send
	return api.SourceStatus{Source: s.name}
}

func (s sender) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	for {
		select {
		case update := <-s.sent:
			updates <- update
		case <-ctx.Done():
			return
		}
	}
}

func TestPodConfigJoinsItsSources(t *testing.T) {
	testPodConfig(t, PodConfigNotificationSnapshotAndUpdates, func(ctx context.Context, config *PodConfig) {
		expect := func(want string) {
			t.Helper()
			if text := showUpdate(<-config.Updates()); text != want {
				t.Errorf("got  %s\nwant %s", text, want)
			}
		}
		file, http := make(chan api.PodUpdate, 1), make(chan api.PodUpdate)
		file <- set(newPod("web", "1"))
		config.Start(ctx, sender{name: "file", sent: file}, sender{name: "http", sent: http})
		expect("SET web=1 unsynced:http")
		http <- set(newPod("web", "2"))
		expect("SET web=1 web=2")
		go config.Sync(ctx)
		expect("SET web=1 web=2")
		file <- set()
		expect("SET web=2")
		http <- set(newPod("web", "3"))
		synctest.Wait() // until the merge waits for a receiver
	})
	testPodConfig(t, PodConfigNotificationSnapshot, func(ctx context.Context, config *PodConfig) {
		go config.Sync(ctx)
		synctest.Wait() // until it waits for a receiver
	})
}

// A slow receiver gets changes in the order in which they were merged, from several
// sources at once.
func TestPodConfigKeepsTheOrder(t *testing.T) {
	testPodConfig(t, PodConfigNotificationSnapshot, func(ctx context.Context, config *PodConfig) {
		const edits = 20
		sources := []string{"file", "http", "etcd"}
		var channels []chan<- api.PodUpdate // all declared first: the receiver waits for no merge
		for _, source := range sources {
			channels = append(channels, config.Channel(ctx, source))
		}
		for n, source := range sources {
			go func() {
				for i := range edits {
					channels[n] <- set(newPod(source, string(rune('a'+i))))
				}
			}()
		}
		newest := map[string]string{}
		for range edits * len(sources) {
			for _, pod := range (<-config.Updates()).Pods {
				image := pod.Manifest.Containers[0].Image
				if image < newest[pod.Name] {
					t.Fatalf("pod %q went back from %s to %s", pod.Name, newest[pod.Name], image)
				}
				newest[pod.Name] = image
			}
		}
	})
}

func TestMux(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		merged := make(chan string, 4)
		mux := NewMux(func(_ context.Context, source string, update api.PodUpdate) error {
			if source == "stuck" {
				<-release
			}
			merged <- source + " " + showUpdate(update)
			return errors.New("pod web is invalid")
		})
		ctx, stop := context.WithCancel(t.Context())
		mux.Channel(ctx, "stuck") <- set(newPod("a", "1"))
		free := mux.Channel(ctx, "free")
		if mux.Channel(ctx, "free") != free {
			t.Error("a source has two channels")
		}
		free <- set(newPod("b", "1"))
		if got := <-merged; got != "free SET b=1" {
			t.Errorf("first %q was merged", got)
		}
		close(release)
		if got := <-merged; got != "stuck SET a=1" {
			t.Errorf("then %q was merged", got)
		}
		synctest.Wait()
		stop()
		mux.Wait()
	})
	if text := logged(); !strings.Contains(text, `source "free": pod web is invalid`) {
		t.Errorf("log:\n%s", text)
	}
}
