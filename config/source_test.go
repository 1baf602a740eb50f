package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
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
	duplicate := `pod "web" is in ` + f.path("a.yaml") + " and " + f.path("a-copy.yaml") + ": keep one of them; until then that of " + f.path("a.yaml") + " is used"
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

// After a restart the owner is not known. While the error lasts, the source is not ready and nothing is removed.
func TestFreeNameThatSeveralInputsHaveIsGivenToNone(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", manifest("web", "2"), manifest("db", "1"))
	f.write("c.yaml", manifest("web", "3"))
	var want []string // each duplicate once, however many there are
	for _, other := range []string{"b.yaml", "c.yaml"} {
		want = append(want, `pod "web" is in `+f.path("a.yaml")+" and "+f.path(other)+": keep one of them; until then none is used")
	}
	f.expect("db=1", strings.Join(want, "\n"))
	if got := f.last.Err.Error(); strings.Count(got, "\n") != 1 {
		t.Errorf("got %s", got)
	}
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
		for _, name := range sortedKeys(f.Status().Stale) {
			if err := f.Status().Stale[name]; strings.Contains(f.last.Err.Error(), err) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: stale: %q, want %q", when, got, want)
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
	expect("a file has a pod of another one")
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

var update = flag.Bool("update", false, "write the .err files of testdata/manifests anew")

func parse(file, text string) ([]api.Pod, error) {
	parser := testParser()
	objects, err := parser.objects("file", file, []byte(text), func(number int) string { return fmt.Sprint(number) })
	pods, _, _, _ := byKind(objects)
	return pods, err
}

func testFiles(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/manifests/" + pattern)
	unittest.Must(t, err)
	files := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		unittest.Must(t, err)
		files[path] = string(data)
	}
	return files
}

func TestValidManifests(t *testing.T) {
	want := map[string]string{
		"valid-one.yaml":         "web",
		"valid-one.json":         "web",
		"valid-several.yaml":     "web db cache",
		"valid-every-field.yaml": "everything",
		"valid-old-names.yaml":   "old",
		"valid-pod.yaml":         "web db web cache",
		"valid-config.yaml":      "web",
	}
	files := testFiles(t, "valid-*")
	if len(files) != len(want) {
		t.Errorf("%d files", len(files))
	}
	for path, text := range files {
		pods, err := parse(path, text)
		var names []string
		for _, pod := range pods {
			names = append(names, pod.Name)
		}
		if got := strings.Join(names, " "); got != want[filepath.Base(path)] || err != nil {
			t.Errorf("%s: got %q, error %v", path, got, err)
		}
	}
}

// Good errors are a purpose of this program: read the .err files when they change.
func TestInvalidManifests(t *testing.T) {
	for path, text := range testFiles(t, "invalid-*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			pods, err := parse(filepath.Base(path), text)
			if err == nil {
				t.Fatalf("no error, but %+v", pods)
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".err"
			got := api.WithExcerpts(err) + "\n"
			if *update {
				unittest.Must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			unittest.Must(t, err)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-%s +got:\n%s", golden, diff)
			}
		})
	}
}
