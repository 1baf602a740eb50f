package config

import (
	"slices"
	"strings"
	"testing"

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
	for name, tt := range map[string]struct {
		leave func(f *fileTest)
		want  string
	}{
		"its owner is removed":          {func(f *fileTest) { f.remove("a.yaml") }, "web=2"},
		"its owner has another pod now": {func(f *fileTest) { f.write("a.yaml", manifest("other", "1")) }, "other=1 web=2"},
		"its owner is renamed":          {func(f *fileTest) { f.rename("a.yaml", "a.yaml.off") }, "web=2"},
	} {
		t.Log(name)
		f := newDuplicatesTest(t)
		f.write("b.yaml", manifest("web", "2"))
		f.expect("web=1", "b.yaml")
		tt.leave(f)
		f.expect(tt.want)
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
	storage.expect(storage.mergeFrom("test", f.last), "SET db=1 unsynced:test")
	f.remove("b.yaml")
	f.remove("c.yaml")
	f.expect("web=1")
}

func TestOnlyThePodsOfABadInputAreStale(t *testing.T) {
	f := newDuplicatesTest(t)
	expect := func(when string, want ...string) {
		t.Helper()
		f.settle()
		var got []string
		for _, name := range sortedKeys(f.Stale()) {
			if err := f.Stale()[name]; strings.Contains(f.last.Err.Error(), err) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: stale: %q, want %q", when, f.Stale(), want)
		}
	}
	expect("all is well")
	f.write("a.yaml", "bad: [")
	f.write("never-read.yaml", "bad: [")
	expect("files are bad", "web.default.file")
	f.rename("", "../away")
	expect("the directory cannot be read", "db.default.file", "web.default.file")
	f.rename("../away", "")
	f.write("a.yaml", manifest("web", "2"))
	f.write("b-copy.yaml", manifest("db", "2"), manifest("more", "2"))
	expect("a file has a pod of another one", "more.default.file")
	f.remove("b-copy.yaml")
	f.remove("never-read.yaml")
	expect("all is well again")
}

func TestStatus(t *testing.T) {
	f := newFileTest(t)
	var before api.SourceStatus
	for _, step := range []struct {
		name   string
		change func()
		good   func(now api.SourceStatus) bool
	}{
		{"it cannot be read", func() { f.rename("", "../away") }, func(now api.SourceStatus) bool {
			return strings.Contains(now.LastError, "no such file") && !now.FailingSince.IsZero() &&
				now.LastErrorAt == now.FailingSince && now.LastSuccess.IsZero()
		}},
		{"a file is bad", func() { f.rename("../away", ""); f.write("a.yaml", "bad: [") }, func(now api.SourceStatus) bool {
			return strings.Contains(now.LastError, "a.yaml") && now.FailingSince == before.FailingSince && now.LastErrorAt.After(before.LastErrorAt)
		}},
		{"all is well", func() { f.write("a.yaml", manifest("web", "1"), manifest("db", "1")) }, func(now api.SourceStatus) bool {
			return now.FailingSince.IsZero() && now.LastSuccess.After(before.LastErrorAt) && now.LastError == before.LastError && now.Pods == 2
		}},
		{"it still is", func() {}, func(now api.SourceStatus) bool { return now.LastSuccess.After(before.LastSuccess) }},
		{"it fails again", func() { f.remove("a.yaml"); f.remove("") }, func(now api.SourceStatus) bool {
			return now.FailingSince.After(before.LastSuccess) && now.LastSuccess == before.LastSuccess && now.Pods == 2
		}},
	} {
		before = f.Status()
		step.change()
		f.settle()
		if now := f.Status(); now.Source != "file" || now.Place != f.dir || !step.good(now) {
			t.Errorf("%s: %+v, before it %+v", step.name, now, before)
		}
	}
}
