package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// fileTest is a source that reads when it is told to, at a time that the test
// sets. The receiver takes what is reported at once.
type fileTest struct {
	*SourceFile
	t     *testing.T
	dir   string        // of the files; the path of the source unless the test says otherwise
	ahead time.Duration // of the clock of the disk
	last  *api.PodUpdate
	reads []string // base names of the files that were parsed
}

// newFileTest has a directory for its path, and a clock by which everything that
// the test writes has been left alone for long enough.
func newFileTest(t *testing.T) *fileTest {
	dir := filepath.Join(t.TempDir(), "manifests")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return newFileTestAt(t, dir, dir)
}

func newFileTestAt(t *testing.T, dir, path string) *fileTest {
	f := &fileTest{
		SourceFile: NewSourceFile(path, time.Hour, testParser()),
		t:          t, dir: dir, ahead: time.Hour,
	}
	f.now = func() time.Time { return time.Now().Add(f.ahead) }
	podsOf := f.podsOf
	f.podsOf = func(file string, data []byte) ([]api.Pod, error) {
		f.reads = append(f.reads, filepath.Base(file))
		return podsOf(file, data)
	}
	return f
}

// look reads once, and says whether there was news.
func (f *fileTest) look() bool {
	f.read()
	update := f.news()
	if update != nil {
		f.last = update
		f.sent(*update)
	}
	return update != nil
}

// settle reads, and again after what is missing is gone.
func (f *fileTest) settle() {
	f.look()
	f.ahead += settleTime
	f.look()
}

// expect checks what the receiver knows: the pods, and a word of each of the
// errors, which have one each.
func (f *fileTest) expect(pods string, words ...string) {
	f.t.Helper()
	if f.last == nil {
		f.t.Fatal("nothing was sent")
	}
	if got := show(f.last.Pods); got != pods {
		f.t.Errorf("got  %q\nwant %q", got, pods)
	}
	if f.last.Op != api.SET {
		f.t.Errorf("operation %v", f.last.Op)
	}
	if len(words) == 0 && f.last.Err != nil {
		f.t.Errorf("unexpected error: %v", f.last.Err)
	}
	for _, word := range words {
		if f.last.Err == nil || !strings.Contains(f.last.Err.Error(), word) {
			f.t.Errorf("no %q in the error: %v", word, f.last.Err)
		}
	}
}

func (f *fileTest) path(name string) string { return filepath.Join(f.dir, name) }

// write replaces a file the way most programs do: in place.
func (f *fileTest) write(name string, content ...string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(strings.Join(content, "\n---\n")), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fileTest) remove(name string) {
	f.t.Helper()
	f.must(os.Remove(f.path(name)))
}

func (f *fileTest) rename(from, to string) {
	f.t.Helper()
	f.must(os.Rename(f.path(from), f.path(to)))
}

// link makes name a symbolic link.
func (f *fileTest) link(target, name string) {
	f.t.Helper()
	f.must(os.Symlink(target, f.path(name)))
}

// age sets how long ago a file was written, by the clock of the test.
func (f *fileTest) age(name string, age time.Duration) {
	f.t.Helper()
	at := f.now().Add(-age)
	f.must(os.Chtimes(f.path(name), at, at))
}

func (f *fileTest) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// manifest is a pod of one container; an empty id is left out.
func manifest(id, image string) string {
	if id != "" {
		id = "id: " + id + "\n"
	}
	return fmt.Sprintf("version: v1beta1\n%scontainers:\n- name: main\n  image: %q", id, image)
}

func withUUID(uuid, manifest string) string {
	return manifest + "\nuuid: " + uuid
}

func TestDirectoryIsReadInTheOrderOfNames(t *testing.T) {
	f := newFileTest(t)
	f.write("b.yaml", manifest("web", "1"))
	f.write("a.json", `{"version":"v1beta1","id":"db","containers":[{"name":"main","image":"2"}]}`)
	f.write("c.manifest", manifest("cache", "3"))
	f.write("d.yml", manifest("log", "4"))
	f.look()
	f.expect("db=2 web=1 cache=3 log=4")
	for _, pod := range f.last.Pods {
		if errs := (validation.Rules{}).ValidatePod(&pod); len(errs) > 0 {
			t.Errorf("%v is invalid: %v", &pod, errs)
		}
	}
}

func TestEmptyDirectoryIsNoPods(t *testing.T) {
	f := newFileTest(t)
	f.look()
	f.expect("")
}

func TestPathThatDoesNotExistIsAnError(t *testing.T) {
	f := newFileTestAt(t, t.TempDir(), "/no/such/path")
	f.look()
	f.expect("", "/no/such/path")
	if f.look() {
		t.Error("the same error was sent twice")
	}
}

func TestPathThatIsADeviceIsAnError(t *testing.T) {
	f := newFileTestAt(t, t.TempDir(), os.DevNull)
	f.look()
	f.expect("", "a device, neither a file nor a directory")
}

func TestIdentity(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", withUUID("my-uuid", manifest("db", "1")))
	f.write("c.yaml", manifest("", "1"), manifest("", "2"), manifest("named", "3"))
	f.look()
	unnamed := pathHash(f.path("c.yaml"))
	want := []api.Pod{
		{Name: "web", UID: api.NewUID("host", "file", "default", "web"), Origin: f.path("a.yaml")},
		{Name: "db", UID: "my-uuid", Origin: f.path("b.yaml")},
		{Name: unnamed, UID: api.NewUID("host", "file", "default", unnamed), Origin: f.path("c.yaml") + " (document 1)"},
		{Name: unnamed + "-2", UID: api.NewUID("host", "file", "default", unnamed+"-2"), Origin: f.path("c.yaml") + " (document 2)"},
		{Name: "named", UID: api.NewUID("host", "file", "default", "named"), Origin: f.path("c.yaml") + " (document 3)"},
	}
	if len(f.last.Pods) != len(want) {
		t.Fatalf("got %q, error %v", show(f.last.Pods), f.last.Err)
	}
	for i, pod := range f.last.Pods {
		want[i].Namespace, want[i].Source, want[i].Manifest = "default", "file", pod.Manifest
		if fmt.Sprint(pod) != fmt.Sprint(want[i]) {
			t.Errorf("got  %+v\nwant %+v", pod, want[i])
		}
	}
}

func TestRelativePathIsMadeAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f := newFileTestAt(t, dir, "web.yaml")
	f.write("web.yaml", manifest("", "1"))
	f.look()
	f.expect(pathHash(filepath.Join(dir, "web.yaml")) + "=1")
}

func TestPathHash(t *testing.T) {
	for path, want := range map[string]string{
		"/some/path/invalidUPPERCASE":          "invaliduppercasa6hlenc0vpqbbdtt26ghneqsq3pvud",
		"/some/path/_-!%$#&@^&*(){}":           "nvhc03p016m60huaiv3avts372rl2p",
		"/etc/kubernetes/manifests/web.yaml":   "webyamli3fj88a6284na6qttgs9lclngcabhh",
		"/etc/kubernetes/manifests/nginx.json": "nginxjsona1fr3bsv5jqhr3utsjeun99ibehdu5",
		"manifests/web.yaml":                   "webyamllgmtvtad46rqe06u1cjjt7kf9husit",
	} {
		if got := pathHash(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestUnchangedFileIsNotReadAgain(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.write("b.yaml", "bad: [")
	f.look()
	f.look()
	f.write("a.yaml", manifest("web", "2"))
	f.look()
	if want := []string{"a.yaml", "b.yaml", "a.yaml"}; !slices.Equal(f.sortedReads(2), want) {
		t.Errorf("parsed %v, want %v", f.reads, want)
	}
}

// sortedReads gives the reads with the first n, which have no order, sorted.
func (f *fileTest) sortedReads(n int) []string {
	reads := slices.Clone(f.reads)
	slices.Sort(reads[:min(n, len(reads))])
	return reads
}

func TestUpdateIsSentWhenSomethingChanged(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	for _, step := range []struct {
		name string
		do   func()
		news bool
	}{
		{"the first read", func() {}, true},
		{"nothing happened", func() {}, false},
		{"a file was rewritten as it was", func() { f.write("a.yaml", manifest("web", "1")) }, false},
		{"a file was changed", func() { f.write("a.yaml", manifest("web", "2")) }, true},
		{"a file went bad", func() { f.write("a.yaml", "bad: [") }, true},
		{"it is still bad", func() {}, false},
		{"it is bad in another way", func() { f.write("a.yaml", "version: v9") }, true},
		{"it is mended", func() { f.write("a.yaml", manifest("web", "2")) }, true},
	} {
		step.do()
		if news := f.look(); news != step.news {
			t.Errorf("%s: news is %v; pods %q, error %v", step.name, news, show(f.last.Pods), f.last.Err)
		}
	}
}

func TestProblemsAreLoggedWhenTheyComeAndGo(t *testing.T) {
	f := newFileTest(t)
	logged := captureLog(t)
	seen := ""
	step := func(what string, lines ...string) {
		t.Helper()
		f.look()
		news := strings.TrimPrefix(logged(), seen)
		seen = logged()
		if strings.Count(news, "File source:") != len(lines) {
			t.Errorf("%s: %d lines wanted, log:\n%s", what, len(lines), news)
		}
		for _, line := range lines {
			if !strings.Contains(news, line) {
				t.Errorf("%s: no %q in the log:\n%s", what, line, news)
			}
		}
	}
	f.write("a.yaml", manifest("web", "1"))
	step("all is well")
	f.write("a.yaml", "version: v9")
	f.write("b.yaml", "version: v9")
	step("two are bad", "a.yaml stay as they were", "b.yaml are known")
	step("they still are")
	f.write("a.yaml", manifest("web", "1"))
	step("one is mended", "a.yaml is read again")
	f.remove("b.yaml")
	step("the other is removed")
	f.rename("", "../elsewhere")
	step("the directory is gone", "all pods stay as they were")
	step("it still is")
	f.rename("../elsewhere", "")
	step("it is back", f.dir+" is read again")
	f.write("notes.txt", "")
	step("something does not count", "notes.txt is passed over")
	step("it still does not")
}
