package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/watch"
)

// fileTest is a source of real files. It polls when the test says so, and its clock jumps from poll to poll.
type fileTest struct {
	*SourceFile
	t       *testing.T
	dir     string
	now     time.Time
	updates chan api.PodUpdate
	last    api.PodUpdate
	writes  int
}

// newFileTest has a directory for its path.
func newFileTest(t *testing.T) *fileTest {
	dir := filepath.Join(t.TempDir(), "manifests")
	unittest.Must(t, os.Mkdir(dir, 0o755))
	return newFileTestAt(t, dir, dir)
}

func newFileTestAt(t *testing.T, dir, path string) *fileTest {
	return &fileTest{
		SourceFile: NewSourceFile(path, time.Hour, testParser()),
		t:          t, dir: dir, now: time.Now(), updates: make(chan api.PodUpdate, 1),
	}
}

// pollOnce polls and reports whether an update was sent.
func (f *fileTest) pollOnce() (sent bool) {
	wait, done := f.poll(f.now)
	f.now = f.now.Add(wait)
	if !done {
		return false
	}
	f.publish(f.t.Context(), f.updates)
	select {
	case f.last = <-f.updates:
		return true
	default:
		return false
	}
}

// settle polls until the next poll is an hour away, and reports whether an update was
// sent.
func (f *fileTest) settle() (sent bool) {
	for begin, polls := f.now, 0; f.now.Sub(begin) < time.Hour; polls++ {
		if polls > 100 {
			f.t.Fatalf("the files do not settle: after %d polls the next one is due in less than an hour", polls)
		}
		sent = f.pollOnce() || sent
	}
	return sent
}

// expect settles and checks what the receiver knows then; see mismatch.
func (f *fileTest) expect(pods string, words ...string) {
	f.t.Helper()
	f.settle()
	f.expectNow(pods, words...)
}

func (f *fileTest) expectNow(pods string, words ...string) {
	f.t.Helper()
	if text := mismatch(f.last, pods, words); text != "" {
		f.t.Error(text)
	}
}

func (f *fileTest) path(name string) string { return filepath.Join(f.dir, name) }

// write replaces the content of a file. Each write has another time, as if the test were slower.
func (f *fileTest) write(name string, documents ...string) {
	f.t.Helper()
	unittest.Must(f.t, os.WriteFile(f.path(name), []byte(strings.Join(documents, "\n---\n")), 0o644))
	f.writes++
	at := time.Unix(int64(f.writes), 0)
	unittest.Must(f.t, os.Chtimes(f.path(name), at, at))
}

func (f *fileTest) remove(name string) { f.t.Helper(); unittest.Must(f.t, os.Remove(f.path(name))) }
func (f *fileTest) mkdir(name string) {
	f.t.Helper()
	unittest.Must(f.t, os.Mkdir(f.path(name), 0o755))
}
func (f *fileTest) rename(from, to string) {
	f.t.Helper()
	unittest.Must(f.t, os.Rename(f.path(from), f.path(to)))
}
func (f *fileTest) link(target, name string) {
	f.t.Helper()
	unittest.Must(f.t, os.Symlink(target, f.path(name)))
}

func TestFilesAndTheirPods(t *testing.T) {
	f := newFileTest(t)
	f.expect("")
	f.write("b.yml", withUUID("my-uuid", manifest("db", "1")))
	f.write("c.manifest", manifest("", "1"), manifest("", "2"), manifest("named", "3"))
	f.write("a.json", jsonManifest("web", "1"))
	unnamed := fileName(f.path("c.manifest"), 1)
	f.expect("web=1 db=1 " + unnamed + "=1 " + unnamed + "-2=2 named=3")
	for i, want := range []struct{ uid, origin string }{
		{api.NewUID("host", "file", "default", "web"), "a.json"},
		{"my-uuid", "b.yml"},
		{api.NewUID("host", "file", "default", unnamed), "c.manifest (document 1)"},
		{api.NewUID("host", "file", "default", unnamed+"-2"), "c.manifest (document 2)"},
		{api.NewUID("host", "file", "default", "named"), "c.manifest (document 3)"},
	} {
		pod := f.last.Pods[i]
		if pod.UID != want.uid || pod.Origin != f.path(want.origin) || pod.Source != "file" || !validation.IsDNSSubdomain(pod.Name) {
			t.Errorf("got %+v, want %v", pod, want)
		}
	}
}

// Names of 2014, which are part of container names.
func TestFileName(t *testing.T) {
	for path, want := range map[string]string{
		"/some/path/invalidUPPERCASE":          "invaliduppercasa6hlenc0vpqbbdtt26ghneqsq3pvud",
		"/some/path/_-!%$#&@^&*(){}":           "nvhc03p016m60huaiv3avts372rl2p",
		"/etc/kubernetes/manifests/web.yaml":   "webyamli3fj88a6284na6qttgs9lclngcabhh",
		"/etc/kubernetes/manifests/nginx.json": "nginxjsona1fr3bsv5jqhr3utsjeun99ibehdu5",
		"manifests/web.yaml":                   "webyamllgmtvtad46rqe06u1cjjt7kf9husit",
	} {
		if got := fileName(path, 1); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	f := newFileTestAt(t, dir, "web.yaml") // a relative path is made absolute
	f.write("web.yaml", manifest("", "1"))
	f.expect(fileName(filepath.Join(dir, "web.yaml"), 1) + "=1")
}

func TestProblemsAreLoggedWhenTheyComeAndGo(t *testing.T) {
	f := newFileTest(t)
	logged := unittest.Log(t, "0")
	seen := ""
	step := func(what string, lines ...string) {
		t.Helper()
		f.settle()
		news := strings.TrimPrefix(logged(), seen)
		seen += news
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
	step("two are bad", "pods stay as they were: "+f.path("a.yaml"), "File source: "+f.path("b.yaml"))
	step("they still are")
	f.write("a.yaml", manifest("web", "1"))
	step("one is fixed", "a.yaml is read again")
	f.remove("b.yaml")
	step("the other is removed", f.path("b.yaml")+" is gone")
	f.rename("", "../elsewhere")
	step("the directory is gone", "pods stay as they were: stat "+f.dir)
	step("it still is")
	f.rename("../elsewhere", "")
	step("it is back", f.dir+" is read again")
	f.write("notes.txt", "")
	step("something does not count", "notes.txt is ignored")
	step("it still does not")
	for _, name := range []string{"sedHeNyLE", "web.yaml~", "web.swp", "#web.yaml#", "4913"} {
		f.write(name, "")
	}
	f.mkdir("program")
	step("editors work, and there is a directory of something else")
	f.write("program/web.yaml", manifest("web", "1"))
	step("manifests are in a directory", "program is ignored")
	for range 2 {
		unittest.Must(t, os.Chmod(f.path("a.yaml"), 0o666))
		step("others may write a file", "any user of this host may write "+f.path("a.yaml"))
		step("they still may")
		unittest.Must(t, os.Chmod(f.path("a.yaml"), 0o664))
		step("they may not")
		unittest.Must(t, os.Chmod(f.dir, 0o777))
		unittest.Must(t, os.Chmod(f.path("a.yaml"), 0o666))
		step("others may write the directory", "any user of this host may write "+f.dir)
		unittest.Must(t, os.Chmod(f.dir, 0o755))
		unittest.Must(t, os.Chmod(f.path("a.yaml"), 0o644))
		step("they may not")
	}
	f.remove("notes.txt")
	f.remove("program/web.yaml")
	f.remove("program")
	step("what was ignored is gone")
	if len(f.warned) > 0 {
		t.Errorf("it still knows %v", f.warned)
	}
	f.write("copy.yaml", manifest("web", "1"))
	step("two have the same pod", `File source: pod "web" is in `)
}

// Each file is bad in another way. Its last good pods and those of other files stay, and the error names the file.
func TestBadFileKeepsItsLastGoodPods(t *testing.T) {
	for name, content := range map[string]string{
		"empty":            "",
		"too big":          "# " + strings.Repeat("x", 10<<20),
		"invalid":          "version: v1beta1\nid: web\ncontainers:\n- name: NOT A NAME\n  image: x",
		"half written":     "version: v1beta1\nid: web\ncontainers:\n- name: main\n  ima",
		"one bad document": manifest("web", "2") + "\n---\nversion: v9",
		"a pod twice":      manifest("web", "2") + "\n---\n" + manifest("web", "3"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFileTest(t)
			f.write("a.yaml", manifest("other", "1"))
			f.write("b.yaml", content)
			f.expect("other=1", f.path("b.yaml")) // it was never good
			f.write("b.yaml", manifest("web", "1"), manifest("db", "1"))
			f.expect("other=1 web=1 db=1")
			f.write("b.yaml", content)
			f.expect("other=1 web=1 db=1", f.path("b.yaml"))
			f.write("b.yaml", manifest("web", "2"))
			f.expect("other=1 web=2")
		})
	}
}

func TestFileThatCannotBeReadKeepsItsLastGoodPods(t *testing.T) {
	for target, problem := range map[string]string{
		"nowhere":        "no such file",
		"/proc/self/mem": "input/output error", // nobody can read this one at 0, not even root
	} {
		f := newFileTest(t)
		f.write("../good", manifest("web", "1"))
		f.link("../good", "a.yaml")
		f.expect("web=1")
		f.remove("a.yaml")
		f.link(target, "a.yaml")
		f.expect("web=1", "a.yaml", problem)
		f.remove("a.yaml")
		f.link("../good", "a.yaml") // the file that was read before
		f.expect("web=1")
	}
}

// An ignored entry has no pods, even if it replaces a file that had some.
func TestWhatADirectoryIgnores(t *testing.T) {
	f := newFileTest(t)
	for _, name := range []string{"sub", "pipe", "device", "subdir"} {
		f.write(name+".yaml", manifest(name, "1"))
	}
	f.write("web.yaml", manifest("web", "1"))
	f.expect("device=1 pipe=1 sub=1 subdir=1 web=1")
	for _, name := range []string{"sub", "pipe", "device", "subdir"} {
		f.remove(name + ".yaml")
	}
	f.write(".hidden.yaml", manifest("hidden", "1"))
	f.write("web.yaml~", manifest("backup", "1"))
	f.write("UPPER.YAML", manifest("upper", "1"))
	f.mkdir("sub.yaml")
	f.write("sub.yaml/inner.yaml", manifest("inner", "1"))
	unittest.Must(t, syscall.Mkfifo(f.path("pipe.yaml"), 0o666))
	f.link(os.DevNull, "device.yaml")
	f.link("sub.yaml", "subdir.yaml")
	f.expect("web=1")
}

func TestSingleFile(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, filepath.Join(dir, "any name"))
	f.expect("", "no such file")
	f.write("any name", "bad: [")
	f.expect("", "any name:1:")
	f.write("any name", manifest("web", "1"))
	f.write("another.yaml", manifest("other", "1"))
	f.expect("web=1")
	f.write("any name", "bad: [")
	f.expect("web=1", "any name:1:")
	f.remove("any name") // of one file, this is an error too
	f.expect("web=1", "no such file")
	unittest.Must(t, syscall.Mkfifo(f.path("any name"), 0o666))
	f.expect("web=1", "neither a file nor a directory")
	f.remove("any name")
	f.write("any name", manifest("web", "2"))
	f.expect("web=2")
}

func todaysPod(name, namespace, image, spec string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {" + spec +
		"containers: [{name: main, image: \"" + image + "\"}]}\n"
}

// The fields of a pod that mean nothing here are logged once, on one line, and again when they come back.
func TestIgnoredFieldsAreLoggedOnce(t *testing.T) {
	f := newFileTest(t)
	log := unittest.Log(t, "0")
	const line = "] pod web.shop.file (/web.yaml): these fields mean nothing here: spec.nodeName, spec.overhead\n"
	expectLines := func(n int) {
		t.Helper()
		if text := strings.ReplaceAll(log(), f.dir, ""); strings.Count(text, line) != n || strings.Count(text, "] pod ") != n {
			t.Errorf("want %d lines, and the log has\n%s", n, text)
		}
	}
	f.write("web.yaml", todaysPod("web", "shop", "1", "nodeName: a, overhead: {cpu: 1}, tolerations: [], "))
	f.write("db.yaml", todaysPod("db", "shop", "1", ""))
	f.expect("db=1 web=1")
	f.write("db.yaml", todaysPod("db", "shop", "2", ""))
	f.expect("db=2 web=1")
	v1.AddServices(f.parser.Scheme, true)
	f.write("service.yaml", service("web", "shop", "app: web"))
	f.expectServices("db= web=", `service "web"`)
	f.write("service.yaml", service("api", "shop", "app: web"))
	f.expectServices("db=api web=api")
	expectLines(1)
	f.write("web.yaml", todaysPod("web", "shop", "2", "nodeName: a, overhead: {cpu: 1}, "))
	f.expect("db=2 web=2")
	expectLines(1)
	f.write("web.yaml", todaysPod("web", "shop", "2", ""))
	f.expect("db=2 web=2")
	f.write("web.yaml", todaysPod("web", "shop", "2", "nodeName: a, overhead: {cpu: 1}, "))
	f.expect("db=2 web=2")
	expectLines(2)
}

// A pod is known by its name and its namespace.
func TestSameNameInAnotherNamespace(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", todaysPod("web", "shop", "1", ""), todaysPod("web", "default", "2", ""))
	f.write("b.yaml", todaysPod("web", "bank", "3", ""))
	f.expect("web=1 web=2 web=3")
	if a, b := f.last.Pods[0], f.last.Pods[1]; a.FullName() != "web.shop.file" || b.FullName() != "web.default.file" || a.UID == b.UID {
		t.Errorf("got %s with %s and %s with %s", a.FullName(), a.UID, b.FullName(), b.UID)
	}
	f.write("c.yaml", manifest("web", "4")) // of 2014, so in the namespace default
	f.expect("web=1 web=2 web=3", `pod "web" is in `+f.path("a.yaml")+" and "+f.path("c.yaml"))
}

// The trace of a typo ends at podStorage, and the loop is not woken. An edit goes on to the loop.
func TestTraceOfFiles(t *testing.T) {
	f := newFileTest(t)
	config := NewPodConfig(PodConfigNotificationSnapshotAndUpdates)
	traced := &trace.Trace{}
	f.parser.Watcher, config.Watcher = traced, traced
	rested := make(chan struct{})
	go func() { // what the sync loop does
		for {
			select {
			case <-config.Updates():
				traced.Woken(watch.UPDATE)
				traced.Synced()
				rested <- struct{}{}
			case <-t.Context().Done():
				return
			}
		}
	}()
	for _, tt := range []struct{ text, want string }{
		{manifest("web", "hello:1"), "[read 1] [send 1] [mux 1] [merge web.default.file 1] [update SET 1]"},
		{manifest("web", "hello:2"), "[read 1] [send 1] [mux 1] [merge web.default.file 1] [update UPDATE 1]"},
		{"{", "[read error 1] [send error 1] [mux 1] [merge 1]"},
	} {
		f.write("a.yaml", tt.text)
		f.settle()
		config.Merge(t.Context(), "file", f.last)
		if tt.text != "{" {
			<-rested
		}
		var got []string
		for _, e := range traced.Changes()[0].Events {
			text := e.Kind.String()
			for _, part := range []string{strings.Join(e.Changed, " "), e.Op, map[bool]string{true: "error"}[e.Error != ""], fmt.Sprint(e.N)} {
				if part != "" && part != "." && !(part == "SET" && e.Kind != trace.Update) {
					text += " " + part
				}
			}
			got = append(got, "["+text+"]")
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("after %s the trace has %s, want %s", tt.text, got, tt.want)
		}
	}
	if changes := traced.Changes(); len(changes) == 0 || changes[0].Title() != "Source file has errors" {
		t.Errorf("the typo is none of the changes: %+v", changes)
	}
}
