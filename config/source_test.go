package config

import (
	"errors"
	"slices"
	"testing"
	"time"

	"kubelet14/api"
)

// Every duplicate in a directory, from two files with a pod each.
func newDuplicatesTest(t *testing.T) *fileTest {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("db", "1"))
	f.expect("web=1 db=1")
	return f
}

func TestOwnerKeepsAPodName(t *testing.T) {
	f := newDuplicatesTest(t)
	f.write("a-copy.yaml", manifest("web", "2"), manifest("new", "2")) // comes first by name
	duplicate := `pod "web" is in ` + f.path("a-copy.yaml") + " and " + f.path("a.yaml") + ": keep one of them; until then that of " + f.path("a.yaml") + " is used"
	f.expect("new=2 web=1 db=1", duplicate) // the other pods of the file count
	f.write("a.yaml", manifest("web", "3"))
	f.expect("new=2 web=3 db=1", duplicate)
	f.write("a.yaml", "bad: [") // a bad file owns its last good pods
	f.expect("new=2 web=3 db=1", duplicate, "a.yaml:1:")
	f.write("a.yaml", manifest("web", "3"))
	f.remove("a-copy.yaml")
	f.expect("web=3 db=1")
	f.write("a.yaml", manifest("db", "4")) // files may swap their pods
	f.write("b.yaml", manifest("web", "4"))
	f.expect("db=4 web=4")
}

func TestNextInputTakesOverAName(t *testing.T) {
	for name, leave := range map[string]func(f *fileTest){
		"its owner is removed":          func(f *fileTest) { f.remove("a.yaml") },
		"its owner has another pod now": func(f *fileTest) { f.write("a.yaml", manifest("other", "1")) },
		"its owner is renamed":          func(f *fileTest) { f.rename("a.yaml", "a.yaml.off") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newDuplicatesTest(t)
			f.write("b.yaml", manifest("web", "2"))
			f.expect("web=1", "b.yaml")
			leave(f)
			f.settle()
			if !slices.ContainsFunc(f.last.Pods, func(p api.Pod) bool { return show([]api.Pod{p}) == "web=2" }) || f.last.Err != nil {
				t.Errorf("got %q, error %v", show(f.last.Pods), f.last.Err)
			}
		})
	}
}

// After a restart nothing is known of the owner. While the error lasts the source is
// not ready, so nothing is removed.
func TestFreeNameThatSeveralInputsHaveIsGivenToNone(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("web", "2"), manifest("db", "1"))
	f.write("c.yaml", manifest("web", "3"))
	f.expect("db=1", `pod "web" is in `+f.path("a.yaml")+" and "+f.path("b.yaml")+" and "+f.path("c.yaml")+": keep one of them; until then none is used")
	storage := newStorageTest(t, PodConfigNotificationSnapshotAndUpdates)
	got, _ := storage.mergeFrom("test", f.last)
	storage.expect(got, "SET db=1 unsynced:test")
	f.remove("b.yaml")
	f.remove("c.yaml")
	f.expect("web=1")
}

func TestStatus(t *testing.T) {
	made := newSource("Test source", "test", "/pods", time.Hour, testParser())
	s, updates := &made, make(chan api.PodUpdate, 1)
	s.input("/pods/web").lastGood = []api.Pod{newPod("web", "1")}
	db := s.input("/pods/db")
	var before, status api.SourceStatus
	step := func(what string, wholeErr, dbErr error, pods int, sent bool) {
		t.Helper()
		before = s.Status()
		for begin := time.Now(); time.Now().Equal(begin); { // until the clock has moved on
		}
		s.inputs[""].err, db.err = wholeErr, dbErr
		s.publish(t.Context(), updates)
		status = s.Status()
		if status.Source != "test" || status.Place != "/pods" || status.Pods != pods || len(updates) == 1 != sent {
			t.Errorf("%s: %d updates, status %+v", what, len(updates), status)
		}
		for len(updates) > 0 {
			<-updates
		}
	}
	expect := func(ok bool) {
		t.Helper()
		if !ok {
			t.Errorf("%+v, before it %+v", status, before)
		}
	}
	away, bad := errors.New("away"), errors.New("db is bad")
	step("it cannot be read", away, nil, 1, true)
	expect(status.LastError == "away" && !status.FailingSince.IsZero() && status.LastErrorAt == status.FailingSince && status.LastSuccess.IsZero())
	step("an input is bad", nil, bad, 1, true)
	expect(status.LastError == "db is bad" && status.FailingSince == before.FailingSince && status.LastErrorAt.After(before.LastErrorAt))
	db.lastGood = []api.Pod{newPod("db", "1"), newPod("db-2", "1")}
	step("it is well", nil, nil, 3, true)
	expect(status.FailingSince.IsZero() && status.LastSuccess.After(before.LastErrorAt) && status.LastError == "db is bad")
	step("it still is", nil, nil, 3, false)
	expect(status.LastSuccess.After(before.LastSuccess))
	step("all fails", away, bad, 3, true)
	expect(status.LastError == "away\ndb is bad" && status.FailingSince.After(before.LastSuccess) && status.LastSuccess == before.LastSuccess)
	step("the same errors, made anew", errors.New("away"), errors.New("db is bad"), 3, false)
}
