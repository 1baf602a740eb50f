package wishes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// open returns the wishes in a root_dir, with a number that counts the wakeups.
func open(t *testing.T, rootDir string) (w *Wishes, woken *int) {
	t.Helper()
	w, err := Open(rootDir)
	unittest.Must(t, err)
	woken = new(int)
	w.Tell(func(_, _, _, _ string) {}, func() { *woken++ })
	return w, woken
}

func podNamed(name string) *plan.Pod {
	return &plan.Pod{Pod: api.Pod{Name: name, Namespace: "default", Source: "file", UID: "u"}}
}

// begun are containers whose newest restart is this one.
func begun(restart int64) []plan.Observed {
	of := func(restart int64, uid string) (c plan.Observed) {
		c.Listed = dockertools.Listed{Restart: restart, Of: dockertools.NameParts{UID: uid}}
		return c
	}
	return []plan.Observed{of(0, "u"), of(restart, "u"), of(1<<62, "another")}
}

const web = "web.default.file"

func TestWishesOutliveTheKubelet(t *testing.T) {
	dir := t.TempDir()
	w, woken := open(t, dir)
	pod := podNamed("web")
	if got := w.Apply(pod, nil); got != pod {
		t.Errorf("without a wish it is %+v", got)
	}
	unittest.Must(t, w.Stop(web, "ada\nof\x1b[2J the night"))
	stopped := w.Apply(pod, begun(0))
	if *woken != 1 || !strings.HasPrefix(stopped.Stopped, "stopped by ada; of?[2J the night since 20") || w.Apply(stopped, begun(0)) != stopped {
		t.Errorf("it is %+v, %d wakeups", stopped, *woken)
	}
	unittest.Must(t, w.Stop(web, "eve"))
	again, _ := open(t, dir)
	if got := again.Apply(pod, nil); got.Stopped != stopped.Stopped || !again.IsStopped(web) || again.IsRestarting(web) {
		t.Errorf("after a restart of the kubelet it is %q, want %q", got.Stopped, stopped.Stopped)
	}
	unittest.Must(t, w.Restart(web, ""))
	wanted := w.Apply(stopped, begun(0))
	if wanted.Stopped != "" || wanted.Restart < time.Now().Add(-time.Hour).UnixMilli() || w.IsStopped(web) || !w.IsRestarting(web) {
		t.Errorf("restarted it is %+v", wanted)
	}
	again, _ = open(t, dir)
	if got := again.Apply(pod, begun(wanted.Restart-1)); got.Restart != wanted.Restart {
		t.Errorf("after a restart of the kubelet its restart is %d, want %d", got.Restart, wanted.Restart)
	}
	if got := again.Apply(wanted, begun(wanted.Restart)); got != wanted {
		t.Errorf("after the restart has begun it is %+v", got)
	}
	if dry, _ := open(t, dir); !dry.IsRestarting(web) {
		t.Error("a dry run forgets it")
	}
	if again.Keep(func(string, string) bool { return true }); again.IsRestarting(web) {
		t.Error("the kubelet does not forget it")
	}
	later := wanted.Restart + time.Hour.Milliseconds() // by a clock that was ahead then
	again.Apply(wanted, begun(later))
	unittest.Must(t, again.Restart(web, "ada"))
	if got := again.Apply(wanted, begun(later)); got.Restart != later+1 {
		t.Errorf("the next restart is %d, want one after %d", got.Restart, later)
	}
	again.Keep(func(name, source string) bool { return name != web || source != "file" })
	if last, _ := open(t, dir); len(last.all) > 0 {
		t.Errorf("there is left: %v", last.all)
	}
}

// No name leads out of the directory, and none is in the way of another: new is the file that is being written.
func TestNamesOfWishes(t *testing.T) {
	dir := t.TempDir()
	unittest.Must(t, os.WriteFile(filepath.Join(dir, "token"), nil, 0o600))
	w, _ := open(t, dir)
	long := strings.Repeat("a.", 126) + "a" // 253 characters
	for _, name := range []string{"new", "new.new", "web", "web.default", "wishes", long} {
		unittest.Must(t, w.Stop(name+".default.file", ""), w.Restart(name+".other."+"etcd", ""))
	}
	for _, name := range []string{"", ".", "..", "a", "a.b", "../token.default.file", "a/b.default.file", "a/../../../token.default.file",
		"..default.file", "a.b/..", "a\x00.default.file", "A.default.file", "a b.default.file"} {
		if err := w.Stop(name, ""); err == nil {
			t.Errorf("%q can be stopped", name)
		}
	}
	again, _ := open(t, dir)
	if len(again.all) != 12 || !again.IsStopped(long+".default.file") || !again.IsRestarting("new.other.etcd") {
		t.Errorf("there are %d wishes: %v", len(again.all), again.all)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("in the root_dir there are %v, %v", entries, err)
	}
}

// What cannot be read is a stop, and is logged with what to do.
func TestDamagedWishes(t *testing.T) {
	good := `{"stop":false,"by":"ada","at":"2026-11-24T10:00:00Z"}`
	for name, damage := range map[string]func(file string) error{
		"empty":          func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"cut":            func(file string) error { return os.WriteFile(file, []byte(good[:30]), 0o600) },
		"without a time": func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) },
		"two of them":    func(file string) error { return os.WriteFile(file, []byte(good+good), 0o600) },
		"too large": func(file string) error {
			return os.WriteFile(file, []byte(strings.Replace(good, "ada", strings.Repeat("a", 1<<20), 1)), 0o600)
		},
		"another type":    func(file string) error { return os.WriteFile(file, []byte(`[true]`), 0o600) },
		"a link":          func(file string) error { return os.Symlink("/etc/passwd", file) },
		"a link to a log": func(file string) error { return os.Symlink("../../good", file) },
		"a pipe":          makePipe,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "wishes/default.file/web")
		unittest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(filepath.Join(dir, "good"), []byte(good), 0o600), damage(file))
		var w *Wishes
		log := unittest.Logged(t, "0", func() { w, _ = open(t, dir) })
		if pod := w.Apply(podNamed("web"), nil); !strings.HasPrefix(pod.Stopped, "stopped by somebody since 20") {
			t.Errorf("%s: it is %+v", name, pod)
		}
		if err := unittest.HasWords(log, file, "damaged", "kubelet14 start web.default.file"); err != nil {
			t.Errorf("%s: %v in the log\n%s", name, err, log)
		}
		unittest.Must(t, w.Restart(web, "ada"))
		if again, _ := open(t, dir); !again.IsRestarting(web) {
			t.Errorf("%s: it stays damaged", name)
		}
	}
}

// A crash while a wish is written leaves the old one.
func TestAHalfWishIsNone(t *testing.T) {
	dir := t.TempDir()
	w, _ := open(t, dir)
	unittest.Must(t, w.Stop(web, "ada"), os.WriteFile(filepath.Join(dir, "wishes/new"), []byte(`{"stop":`), 0o600))
	log := unittest.Logged(t, "0", func() { w, _ = open(t, dir) })
	if !w.IsStopped(web) || len(w.all) != 1 || log != "" {
		t.Errorf("there are %v\n%s", w.all, log)
	}
	unittest.Must(t, w.Stop("other.default.file", "ada"))
	if again, _ := open(t, dir); len(again.all) != 2 {
		t.Errorf("there are %v", again.all)
	}
}

// What cannot be kept is refused, and changes nothing.
func TestAWishThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	w, woken := open(t, dir)
	unittest.Must(t, os.WriteFile(filepath.Join(dir, "wishes"), nil, 0o600))
	if err := w.Stop(web, "ada"); err == nil || w.IsStopped(web) || *woken != 0 || !strings.Contains(err.Error(), web) {
		t.Errorf("it returns %v", err)
	}
	if _, err := Open(filepath.Join(dir, "wishes")); err == nil {
		t.Error("a file was opened as a root_dir")
	}
	none, err := Open(filepath.Join(dir, "none"))
	if err != nil || none.IsStopped(web) {
		t.Errorf("a root_dir that does not exist: %v", err)
	}
}

// Of ten thousand pods that are stopped some are started and stopped again, at the same time as the kubelet looks at all.
func TestManyWishes(t *testing.T) {
	dir := t.TempDir()
	name := func(i int) string { return fmt.Sprintf("web-%d.default.file", i) }
	unittest.Must(t, os.MkdirAll(filepath.Join(dir, "wishes/default.file"), 0o700))
	for i := range 10_000 {
		unittest.Must(t, os.WriteFile(fmt.Sprintf("%s/wishes/default.file/web-%d", dir, i), []byte(`{"stop":true,"at":"2026-11-24T10:00:00Z"}`), 0o600))
	}
	w, err := Open(dir)
	unittest.Must(t, err)
	w.Tell(func(_, _, _, _ string) {}, func() {})
	var all sync.WaitGroup
	for part := range 10 {
		all.Go(func() {
			for i := part; i < 200; i += 10 {
				if err := w.Restart(name(i), "eve"); err != nil {
					t.Error(err)
				}
				w.Apply(podNamed(fmt.Sprintf("web-%d", i)), nil)
				if i%2 == 1 {
					w.Stop(name(i), "eve")
				}
			}
		})
	}
	all.Go(func() {
		for range 100 {
			w.Keep(func(string, string) bool { return true })
		}
	})
	all.Wait()
	again, err := Open(dir)
	unittest.Must(t, err)
	for i := range 10_000 {
		if stopped := i%2 == 1 || i >= 200; again.IsStopped(name(i)) != stopped || again.IsRestarting(name(i)) == stopped {
			t.Fatalf("%s: %+v", name(i), again.all[name(i)])
		}
	}
}

func makePipe(file string) error { return syscall.Mkfifo(file, 0o600) }
