package config

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// testPodConfig runs a test in a bubble. Everything must end with the context, even a sender that waits for a receiver.
func testPodConfig(t *testing.T, mode PodConfigNotificationMode, test func(ctx context.Context, config *PodConfig)) {
	t.Helper()
	mustEnd(t)
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
	synctest.Wait() // gives a source that already runs the time to send
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
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		merged := make(chan string, 4)
		mux := NewMux(func(_ context.Context, source string, update api.PodUpdate) {
			if source == "stuck" {
				<-release
			}
			merged <- source + " " + showUpdate(update)
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
}

// storageTest is a podStorage without a receiver; its updates are kept.
type storageTest struct {
	*podStorage
	t       *testing.T
	updates chan api.PodUpdate
}

// newStorageTest declares the source "test".
func newStorageTest(t *testing.T, mode PodConfigNotificationMode) *storageTest {
	mustEnd(t)
	updates := make(chan api.PodUpdate, 10)
	s := &storageTest{newPodStorage(mode, updates), t, updates}
	s.declare("test")
	return s
}

// merge sends an update of the source "test" and returns what was sent because of it.
func (s *storageTest) merge(op api.PodOperation, pods ...api.Pod) []string {
	return s.mergeFrom("test", api.PodUpdate{Op: op, Pods: pods})
}

func (s *storageTest) mergeFrom(source string, update api.PodUpdate) (sent []string) {
	s.Merge(s.t.Context(), source, update)
	for len(s.updates) > 0 {
		sent = append(sent, showUpdate(<-s.updates))
	}
	return sent
}

func (s *storageTest) expect(got []string, want ...string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The updates of each mode for the same history.
func TestModes(t *testing.T) {
	a1, a2, b1, c1 := newPod("a", "1"), newPod("a", "2"), newPod("b", "1"), newPod("c", "1")
	moved := a1
	moved.Origin = "/elsewhere"
	steps := []struct {
		name                                    string
		op                                      api.PodOperation
		pods                                    []api.Pod
		snapshot, snapshotAndUpdates, increment []string
	}{
		{"new pods", api.ADD, []api.Pod{b1, a1},
			[]string{"SET a=1 b=1"}, []string{"SET a=1 b=1"}, []string{"ADD a=1 b=1"}},
		{"the same again", api.SET, []api.Pod{a1, b1},
			nil, nil, nil},
		{"a changed pod, by ADD", api.ADD, []api.Pod{a2},
			[]string{"SET a=2 b=1"}, []string{"UPDATE a=2"}, []string{"UPDATE a=2"}},
		{"a changed pod, by UPDATE", api.UPDATE, []api.Pod{a1},
			[]string{"SET a=1 b=1"}, []string{"UPDATE a=1"}, []string{"UPDATE a=1"}},
		{"another origin", api.UPDATE, []api.Pod{moved},
			[]string{"SET a=1 b=1"}, []string{"UPDATE a=1"}, []string{"UPDATE a=1"}},
		{"an unknown pod, by UPDATE", api.UPDATE, []api.Pod{c1},
			[]string{"SET a=1 b=1 c=1"}, []string{"SET a=1 b=1 c=1"}, []string{"ADD c=1"}},
		{"a removal by name and namespace", api.REMOVE, []api.Pod{{Name: "c", Namespace: api.NamespaceDefault}},
			[]string{"SET a=1 b=1"}, []string{"SET a=1 b=1"}, []string{"REMOVE c=1"}},
		{"a removal of nothing", api.REMOVE, []api.Pod{{Name: "b", Namespace: "other"}},
			nil, nil, nil},
		{"all kinds of change in one SET", api.SET, []api.Pod{c1, a2},
			[]string{"SET a=2 c=1"}, []string{"UPDATE a=2", "SET a=2 c=1"}, []string{"REMOVE b=1", "ADD c=1", "UPDATE a=2"}},
		{"nothing at all", api.SET, nil,
			[]string{"SET"}, []string{"SET"}, []string{"REMOVE a=2 c=1"}},
	}
	for mode, name := range []string{"Snapshot", "SnapshotAndUpdates", "Incremental"} {
		t.Run(name, func(t *testing.T) {
			s := newStorageTest(t, PodConfigNotificationMode(mode))
			for _, step := range steps {
				want := [][]string{step.snapshot, step.snapshotAndUpdates, step.increment}[mode]
				if got := s.merge(step.op, step.pods...); !slices.Equal(got, want) {
					t.Errorf("%s:\ngot  %q\nwant %q", step.name, got, want)
				}
			}
		})
	}
}

func TestNamespacesAndSourcesAreApart(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	zoo := newPod("a", "2")
	zoo.Namespace, zoo.UID = "zoo", "another"
	s.expect(s.merge(api.ADD, newPod("a", "1")), "SET a=1")
	s.expect(s.merge(api.ADD, zoo), "SET a=1 a=2")
	s.expect(s.mergeFrom("other", set(newPod("a", "3"))), "SET a=3 a=1 a=2") // a.default.other, a.default.test, a.zoo.test
	s.expect(s.merge(api.REMOVE, newPod("a", "")), "SET a=3 a=2")
	s.expect(s.mergeFrom("other", set()), "SET a=2")
}

func TestSourceIsSyncedAfterAnUpdateWithoutAnError(t *testing.T) {
	for mode, first := range []string{"SET a=1", "SET a=1", "ADD a=1"} {
		s := newStorageTest(t, PodConfigNotificationMode(mode))
		s.declare("other")
		send := func(err error) []string {
			return s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1")}, Err: err})
		}
		bad := errors.New("x.yaml is bad")
		s.expect(send(bad), first+" unsynced:other unsynced:test")
		s.expect(send(bad))
		s.expect(send(errors.New("y.yaml is bad")), "SET a=1 unsynced:other unsynced:test") // the reason changed
		s.Merge(t.Context(), "test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1")}, Err: bad})
		unsynced := unittest.Receive(t, s.updates, "no update").Unsynced
		if other, ok := unsynced["other"]; !ok || other != nil {
			t.Errorf("a source that sent nothing: %v, %v", other, ok)
		}
		if text := unsynced["test"].Error(); text != bad.Error() {
			t.Errorf("a source that sent errors: %v", text)
		}
		s.expect(send(nil), "SET a=1 unsynced:other")
		s.expect(send(bad)) // it stays synced
		s.expect(s.mergeFrom("other", set()), "SET a=1")
	}
}

// An UPDATE that comes before the SET of the same change does not have all pods of the source. If it said that the
// source is ready, the receiver would remove the others.
func TestOnlyTheLastUpdateOfAChangeMakesItsSourceSynced(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1")}, Err: errors.New("b.yaml is bad")})
	s.expect(s.merge(api.SET, newPod("a", "2"), newPod("b", "1")), "UPDATE a=2 unsynced:test", "SET a=2 b=1")
}

// A receiver may change its updates: nobody else sees that.
func TestWhatWasSentIsACopy(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.Merge(t.Context(), "test", set(newPod("a", "1"), newPod("b", "1")))
	s.Merge(t.Context(), "test", set(newPod("a", "2")))
	for len(s.updates) > 0 {
		update := <-s.updates
		update.Unsynced["x"] = nil
		update.Pods[0].Manifest.Containers[0].Image = "changed"
		update.Pods[0] = api.Pod{}
	}
	s.MergedState()[0].Manifest.Containers[0].Image = "changed"
	s.expect([]string{show(s.MergedState())}, "a=2")
	s.expect(s.merge(api.SET, newPod("a", "2"))) // nothing new
}
