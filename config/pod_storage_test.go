package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kubelet14/api"
)

// badPod is newPod with a manifest that no rules allow.
func badPod(name string) api.Pod {
	pod := newPod(name, "image")
	pod.Manifest.Containers[0].Name = "NOT A NAME"
	return pod
}

// storageTest is a podStorage without a receiver; its updates are kept.
type storageTest struct {
	*podStorage
	t       *testing.T
	updates chan api.PodUpdate
	err     error // of the last merge
}

// newStorageTest declares the source "test".
func newStorageTest(t *testing.T, mode PodConfigNotificationMode) *storageTest {
	updates := make(chan api.PodUpdate, 10)
	s := &storageTest{newPodStorage(mode, updates), t, updates, nil}
	s.declare("test")
	return s
}

// merge sends an update of the source "test" and returns what was sent because of it.
func (s *storageTest) merge(op api.PodOperation, pods ...api.Pod) []string {
	return s.mergeFrom("test", api.PodUpdate{Op: op, Pods: pods})
}

func (s *storageTest) mergeFrom(source string, update api.PodUpdate) (sent []string) {
	s.err = s.Merge(s.t.Context(), source, update)
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

func TestRejectedPodsStayAsTheyWere(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.merge(api.SET, newPod("a", "1"), newPod("b", "1"))
	second, noNamespace := newPod("a", "3"), newPod("c", "1")
	second.Origin, noNamespace.Namespace = "/etc/copy.yaml", ""
	for words, update := range map[string]api.PodUpdate{
		"pod a.default.test (/etc/a.yaml) is invalid": set(badPod("a"), newPod("b", "1")),
		"is invalid": {Op: api.UPDATE, Pods: []api.Pod{badPod("a")}},
		"pod a.default.test (/etc/copy.yaml) is given a second time, first as a.default.test (/etc/a.yaml)": set(newPod("a", "1"), second, newPod("b", "1")),
		"pod c..test": set(newPod("a", "1"), newPod("b", "1"), noNamespace),
		"operation":   {Op: 17, Pods: []api.Pod{newPod("d", "1")}},
	} {
		sent := s.mergeFrom("test", update)
		if s.err == nil || !strings.Contains(s.err.Error(), words) || len(sent) > 0 || show(s.MergedState()) != "a=1 b=1" {
			t.Errorf("sent %q, error %v\nwant an error with %q, pods %s", sent, s.err, words, show(s.MergedState()))
		}
	}
	s.expect(s.merge(api.SET, newPod("b", "1")), "SET b=1")
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
		s.Merge(t.Context(), "test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1"), badPod("b")}, Err: bad})
		unsynced := (<-s.updates).Unsynced
		if other, ok := unsynced["other"]; !ok || other != nil {
			t.Errorf("a source that sent nothing: %v, %v", other, ok)
		}
		if text := unsynced["test"].Error(); !strings.Contains(text, "x.yaml is bad") || !strings.Contains(text, "b.default.test") {
			t.Errorf("a source that sent errors: %v", text)
		}
		s.expect(send(nil), "SET a=1 unsynced:other")
		s.expect(send(bad)) // it stays synced
		s.expect(s.mergeFrom("other", set()), "SET a=1")
	}
}

// The UPDATE that comes before the SET of the same change does not have all pods of the
// source yet, so the receiver would remove the others.
func TestOnlyTheLastUpdateOfAChangeMakesItsSourceSynced(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1")}, Err: errors.New("b.yaml is bad")})
	s.expect(s.merge(api.SET, newPod("a", "2"), newPod("b", "1")), "UPDATE a=2 unsynced:test", "SET a=2 b=1")
}

// A receiver that writes to what it got does not change what others get.
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
