package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// badPod is newPod with a manifest that no rules allow.
func badPod(name string) api.Pod {
	pod := newPod(name, "image")
	pod.Manifest.Containers[0].Name = "NOT A NAME"
	return pod
}

// storageTest is a podStorage whose updates can be looked at without a receiver.
type storageTest struct {
	*podStorage
	t       *testing.T
	updates chan api.PodUpdate
}

// newStorageTest declares the source "test".
func newStorageTest(t *testing.T, mode PodConfigNotificationMode) *storageTest {
	updates := make(chan api.PodUpdate, 10)
	s := &storageTest{newPodStorage(mode, validation.Rules{}, updates), t, updates}
	s.declare("test")
	return s
}

// merge sends an update of the source "test" and returns what was told of it.
func (s *storageTest) merge(op api.PodOperation, pods ...api.Pod) []string {
	s.t.Helper()
	told, _ := s.mergeFrom("test", api.PodUpdate{Op: op, Pods: pods})
	return told
}

func (s *storageTest) mergeFrom(source string, update api.PodUpdate) ([]string, error) {
	err := s.Merge(s.t.Context(), source, update)
	return s.told(), err
}

func (s *storageTest) told() []string {
	var told []string
	for len(s.updates) > 0 {
		told = append(told, showUpdate(<-s.updates))
	}
	return told
}

func (s *storageTest) expect(got []string, want ...string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What each mode says of the same history.
func TestModes(t *testing.T) {
	a1, a2, b1, c1 := newPod("a", "1"), newPod("a", "2"), newPod("b", "1"), newPod("c", "1")
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

func TestEveryDifferenceIsAChange(t *testing.T) {
	for what, change := range map[string]func(*api.Pod){
		"UID":      func(p *api.Pod) { p.UID = "another" },
		"origin":   func(p *api.Pod) { p.Origin = "/elsewhere" },
		"manifest": func(p *api.Pod) { p.Manifest.Containers[0].Env = []api.EnvVar{{Name: "A"}} },
	} {
		t.Run(what, func(t *testing.T) {
			s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
			s.merge(api.SET, newPod("a", "1"))
			changed := newPod("a", "1")
			change(&changed)
			s.expect(s.merge(api.SET, changed), "UPDATE a=1")
			changed.Source = "test"
			if diff := cmp.Diff([]api.Pod{changed}, s.MergedState()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodIsStampedWithItsSource(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationIncremental)
	pod := newPod("a", "1")
	pod.Source = "a lie"
	s.merge(api.ADD, pod)
	if got := s.MergedState()[0].FullName(); got != "a.default.test" {
		t.Errorf("full name %q", got)
	}
}

func TestNamespacesAreApart(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationIncremental)
	other := newPod("a", "2")
	other.Namespace, other.UID = "zoo", "another"
	s.expect(s.merge(api.ADD, newPod("a", "1")), "ADD a=1")
	s.expect(s.merge(api.ADD, other), "ADD a=2")
	s.expect(s.merge(api.REMOVE, newPod("a", "")), "REMOVE a=1")
	s.expect([]string{show(s.MergedState())}, "a=2")
}

func TestSourcesAreApart(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.merge(api.SET, newPod("a", "1"), newPod("b", "1"))
	got, _ := s.mergeFrom("other", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "2")}})
	s.expect(got, "SET a=2 a=1 b=1") // a.default.other, a.default.test, b.default.test
	got, _ = s.mergeFrom("other", api.PodUpdate{Op: api.SET})
	s.expect(got, "SET a=1 b=1")
}

func TestInvalidPodStaysAsItWas(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.merge(api.SET, newPod("a", "1"), newPod("b", "1"))
	for _, op := range []api.PodOperation{api.SET, api.UPDATE} {
		got, err := s.mergeFrom("test", api.PodUpdate{Op: op, Pods: []api.Pod{badPod("a"), newPod("b", "1")}})
		s.expect(got)
		if err == nil || !strings.Contains(err.Error(), "a.default.test (/etc/a.yaml)") {
			t.Errorf("%v: error %v", op, err)
		}
	}
	s.expect([]string{show(s.MergedState())}, "a=1 b=1")
	s.expect(s.merge(api.SET, newPod("b", "1")), "SET b=1")
}

func TestPodThatWasNeverValidIsLeftOut(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	noNamespace := newPod("c", "1")
	noNamespace.Namespace = ""
	s.expect(s.merge(api.SET, newPod("a", "1"), badPod("b"), noNamespace), "SET a=1 unsynced:test")
}

func TestPodGivenTwiceStaysAsItWas(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.merge(api.SET, newPod("a", "1"))
	first, second := newPod("a", "2"), newPod("a", "3")
	second.Origin = "/etc/copy.yaml"
	got, err := s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{first, second, newPod("b", "1"), newPod("b", "1")}})
	s.expect(got)
	s.expect([]string{show(s.MergedState())}, "a=1")
	if err == nil || !strings.Contains(err.Error(), first.Origin) || !strings.Contains(err.Error(), second.Origin) {
		t.Errorf("the error does not name both places: %v", err)
	}
}

func TestUnknownOperationChangesNothing(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshot)
	got, err := s.mergeFrom("test", api.PodUpdate{Op: 17, Pods: []api.Pod{newPod("a", "1")}})
	s.expect(got)
	if err == nil {
		t.Error("no error")
	}
	s.Sync(t.Context())
	s.expect(s.told(), "SET unsynced:test")
}

func TestSourceIsSilentUntilItSpeaksWithoutAnError(t *testing.T) {
	for mode, first := range []string{"SET a=1", "SET a=1", "ADD a=1"} {
		s := newStorageTest(t, PodConfigNotificationMode(mode))
		s.declare("other")
		a := newPod("a", "1")
		send := func(err error, pods ...api.Pod) []string {
			got, _ := s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: pods, Err: err})
			return got
		}
		bad := errors.New("x.yaml is bad")
		s.expect(send(bad, a), first+" unsynced:other unsynced:test")
		s.expect(send(bad, a))
		s.expect(send(errors.New("y.yaml is bad"), a), "SET a=1 unsynced:other unsynced:test") // the reason changed
		s.expect(send(nil, a), "SET a=1 unsynced:other")                                       // it has spoken
		s.expect(send(bad, a))                                                                 // and speaks for ever
		s.expect(send(nil, a))
		got, _ := s.mergeFrom("other", api.PodUpdate{Op: api.SET})
		s.expect(got, "SET a=1")
	}
}

func TestSilentSaysWhy(t *testing.T) {
	s := newStorageTest(t, PodConfigNotificationSnapshot)
	s.declare("other")
	s.Merge(t.Context(), "test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{badPod("b")}, Err: errors.New("x.yaml is bad")})
	silent := (<-s.updates).Unsynced
	if reason, ok := silent["other"]; !ok || reason != nil {
		t.Errorf("a source that sent nothing: %v, %v", reason, ok)
	}
	reason := silent["test"]
	if reason == nil || !strings.Contains(reason.Error(), "x.yaml is bad") || !strings.Contains(reason.Error(), "b.default.test") {
		t.Errorf("a source that sent errors: %v", reason)
	}
}

// An UPDATE or REMOVE says nothing of the source's other pods. If it also said
// that the source has spoken, a receiver would take them for unwanted until the
// next update came.
func TestOnlyTheLastUpdateSaysThatASourceHasSpoken(t *testing.T) {
	pods := []api.Pod{newPod("a", "2"), newPod("c", "1")}
	for mode, want := range map[PodConfigNotificationMode][]string{
		PodConfigNotificationSnapshotAndUpdates: {"UPDATE a=2 unsynced:test", "SET a=2 c=1"},
		PodConfigNotificationIncremental:        {"REMOVE b=1 unsynced:test", "ADD c=1 unsynced:test", "UPDATE a=2"},
	} {
		s := newStorageTest(t, mode)
		s.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1"), newPod("b", "1")}, Err: errors.New("c.yaml is bad")})
		s.expect(s.merge(api.SET, pods...), want...)
	}
}

// A receiver that writes to what it got must not change what others get.
func TestWhatWasSentIsApart(t *testing.T) {
	all := newStorageTest(t, PodConfigNotificationIncremental)
	all.mergeFrom("test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "1"), newPod("b", "1")}, Err: errors.New("c.yaml is bad")})
	all.Merge(t.Context(), "test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "2"), newPod("c", "1")}})
	delete((<-all.updates).Unsynced, "test")
	all.expect(all.told(), "ADD c=1 unsynced:test", "UPDATE a=2")

	s := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	s.merge(api.SET, newPod("a", "1"))
	s.Merge(t.Context(), "test", api.PodUpdate{Op: api.SET, Pods: []api.Pod{newPod("a", "2"), newPod("b", "2")}})
	want := s.MergedState()
	for len(s.updates) > 0 {
		update := <-s.updates
		update.Unsynced["x"] = nil
		for i := range update.Pods {
			update.Pods[i].Manifest.Containers[0].Image = "changed"
			update.Pods[i] = api.Pod{}
		}
	}
	s.MergedState()[0].Manifest.Containers[0].Image = "changed"
	if diff := cmp.Diff(want, s.MergedState()); diff != "" {
		t.Error(diff)
	}
	s.expect(s.merge(api.SET, newPod("a", "2"), newPod("b", "2"))) // nothing new
	s.Sync(t.Context())
	s.expect(s.told(), "SET a=2 b=2")
}
