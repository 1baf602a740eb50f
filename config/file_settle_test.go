package config

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// A manifest is written in pieces, in every way of replacing a file, with pauses shorter than settleTime. The pod must
// always be the old one or the new one. Half of a manifest may be valid: "1.1" is a part of "1.10".
func TestHalfWrittenFileNeverChangesAPod(t *testing.T) {
	for seed := range int64(unittest.Seeds(50)) {
		random := rand.New(rand.NewSource(seed))
		f := newFileTest(t)
		f.write("b.yaml", manifest("db", "1"))
		f.write("a.yaml", manifest("web", "0"))
		f.expect("web=0 db=1")
		before := "0"
		for edit := range 3 {
			image := fmt.Sprintf("1.%d", edit*100)
			text := manifest("web", image)
			name := "a.yaml"
			switch random.Intn(4) {
			case 0: // in place
			case 1: // by a rename
				name = "a.tmp"
			case 2: // removed first
				f.remove("a.yaml")
			case 3: // moved aside first, as editors do
				f.rename("a.yaml", "a.yaml~")
			}
			f.pollOnce()
			for rest := text; len(rest) > 0; {
				n := 1 + random.Intn(min(len(rest), 20))
				rest = rest[n:]
				f.write(name, text[:len(text)-len(rest)])
				f.pollOnce() // settleTime later
				f.expectNow("web=" + before + " db=1")
			}
			if name != "a.yaml" {
				f.rename(name, "a.yaml")
			}
			f.expect("web=" + image + " db=1")
			before = image
		}
	}
}

func TestFileIsReadWhenTwoSnapshotsAreEqual(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	begin := f.now
	if f.pollOnce() {
		t.Error("the first update does not wait")
	}
	if !f.pollOnce() || f.now.Sub(begin) != settleTime+time.Hour {
		t.Errorf("no update after %v", settleTime)
	}
	f.expectNow("web=1")
	f.write("a.yaml", manifest("web", "2"))
	f.pollOnce()
	f.write("b.yaml", manifest("db", "1"))
	f.pollOnce()
	f.expectNow("web=1")
	f.pollOnce()
	f.expectNow("web=2 db=1")
	f.remove("a.yaml")
	f.pollOnce()
	f.expectNow("web=2 db=1")
	f.pollOnce()
	f.expectNow("db=1")
	f.write("b.yaml", manifest("db", "1")) // written again as it was
	for range 2 {
		if f.settle() {
			t.Error("an update that changes nothing")
		}
	}
}

// The pod is there at every moment, and no conflict is logged.
func TestRenamedFileKeepsItsPod(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.expect("web=1")
	logged := unittest.Log(t, "0")
	f.rename("a.yaml", "z.yaml")
	for range 3 {
		f.pollOnce()
		f.expectNow("web=1")
	}
	if text := logged(); text != "" || f.last.Pods[0].Origin != f.path("z.yaml") {
		t.Errorf("origin %s, log:\n%s", f.last.Pods[0].Origin, text)
	}
}

// A removal of a directory removes its files first.
func TestFilesThatWentWithTheirDirectoryStay(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", manifest("web", "1"))
	f.expect("web=1")
	f.remove("a.yaml")
	f.pollOnce() // the file is gone
	f.remove("")
	f.expect("web=1", f.dir)
	f.mkdir("")
	f.pollOnce() // the directory is back, and its files are being written
	f.expectNow("web=1", f.dir)
	f.write("a.yaml", manifest("web", "2"))
	f.expect("web=2")
}

// A file that changes all the time delays the others for a second. It keeps its last good pods and counts as an error,
// so the source is not ready before the first read of it.
func TestFileThatNeverSettlesIsAnErrorInTheEnd(t *testing.T) {
	for _, first := range []string{"", "web=0 "} { // what it had, if anything
		f := newFileTest(t)
		if first != "" {
			f.write("a.yaml", manifest("web", "0"))
			f.expect("web=0")
		}
		f.write("b.yaml", manifest("db", "1"))
		churn := func() bool {
			f.write("a.yaml", manifest("web", "1"))
			return f.pollOnce()
		}
		for begin := f.now; f.now.Sub(begin) < maxUnsettled; {
			if churn() {
				t.Fatalf("an update after %v: %s", f.now.Sub(begin), show(f.last.Pods))
			}
		}
		churn()
		f.expectNow(first+"db=1", f.path("a.yaml"), "changes all the time")
		f.remove("b.yaml") // and others are heard
		churn()
		f.expectNow(first+"db=1", f.path("a.yaml")) // it may be back at once
		churn()
		f.expectNow(first[:max(0, len(first)-1)], f.path("a.yaml"))
		f.expect("web=1")
	}
}

// Each of sixty files is written once. No two looks find the same, and yet no file changes all the time. At the start the
// source is not ready before it has read all of them.
func TestFilesThatKeepComing(t *testing.T) {
	for first, want := range map[string]string{"": "files keep coming", "web=0": ""} { // files that exist before; words of the log
		f, there := newFileTest(t), strings.Count(first, "=")
		if first != "" {
			f.write("a.yaml", manifest("web", "0"))
			f.expect(first)
		}
		logged, begin := unittest.Log(t, "0"), f.now
		for i := range 60 {
			f.write("../new", manifest(fmt.Sprint("p", i), "1"))
			f.rename("../new", fmt.Sprintf("p%02d.yaml", i))
			if late := f.now.Sub(begin) >= maxUnsettled; f.pollOnce() != late || late && len(f.last.Pods) != i+there {
				t.Fatalf("after %d files there are %d pods", i+1, len(f.last.Pods))
			}
			if ready := f.last.Err == nil; f.last.Op == api.SET && ready != (first != "") {
				t.Fatalf("after %d files: %v", i+1, f.last.Err)
			}
		}
		if f.settle(); len(f.last.Pods) != 60+there || f.last.Err != nil {
			t.Errorf("in the end there are %d pods, %v", len(f.last.Pods), f.last.Err)
		}
		if text := logged(); !strings.Contains(text, want) || strings.Count(text, "\n") != 2*min(len(want), 1) {
			t.Errorf("want %q once, and that it is read again:\n%s", want, text)
		}
	}
}

func TestRunNoticesChanges(t *testing.T) {
	dir := t.TempDir()
	manifests := filepath.Join(dir, "manifests")
	// Polls are an hour apart, so all changes are noticed by the watch.
	r := runSource(t, NewSourceFile(manifests, time.Hour, testParser()))
	f := newFileTestAt(t, dir, dir) // for its helpers only
	r.await("", "no such file")
	f.mkdir("manifests")
	f.write("manifests/a.yaml", manifest("web", "1"))
	r.await("web=1")
	f.write("manifests/a.yaml", manifest("web", "2"))
	r.await("web=2")
	f.write("a.tmp", manifest("web", "3"))
	f.rename("a.tmp", "manifests/a.yaml")
	r.await("web=3")
	f.write("manifests/a.yaml", "bad: [")
	r.await("web=3", "a.yaml")

	f.rename("manifests", "old") // the directory is replaced
	r.await("web=3", "no such file")
	f.mkdir("new")
	f.write("new/a.yaml", manifest("web", "4"))
	f.rename("new", "manifests")
	r.await("web=4")
	f.write("manifests/a.yaml", manifest("web", "5"))
	r.await("web=5")

	f.rename("manifests", "v1") // a link takes its place, and is swapped
	f.link("v1", "manifests")
	f.mkdir("v2")
	f.write("v2/a.yaml", manifest("web", "6"))
	f.link("v2", "next")
	f.rename("next", "manifests")
	r.await("web=6")
	f.write("v2/a.yaml", manifest("web", "7"))
	r.await("web=7")
	f.remove("v2/a.yaml")
	r.await("")
}

func TestRunPollsWhatItCannotWatch(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, dir)
	r := runSource(t, NewSourceFile(filepath.Join(dir, "no", "parent", "yet"), time.Millisecond, testParser()))
	r.await("", "no such file")
	unittest.Must(t, os.MkdirAll(f.path("no/parent/yet"), 0o755))
	f.write("no/parent/yet/a.yaml", manifest("web", "1"))
	r.await("web=1")
}

// The limits of inotify are those of a user namespace of its own. Where the kernel allows this user none, nothing is
// tested.
func TestALimitOfInotifyIsWarnedAboutOnce(t *testing.T) {
	const env = "INOTIFY_LIMIT"
	limit := os.Getenv(env)
	if limit == "" {
		for _, limit := range []string{"max_inotify_watches", "max_inotify_instances"} {
			again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			again.Env = append(os.Environ(), env+"="+limit)
			root := []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: root}
			out, err := again.CombinedOutput()
			if _, failed := err.(*exec.ExitError); failed {
				t.Errorf("%s: %v", limit, err)
			}
			t.Logf("%v\n%s", err, out)
		}
		return
	}
	unittest.Must(t, os.WriteFile("/proc/sys/user/"+limit, []byte("0"), 0o644))
	logged, f := unittest.Log(t, "0"), newFileTest(t)
	r := runSource(t, NewSourceFile(f.dir, time.Millisecond, testParser()))
	for _, image := range []string{"1", "2", "3"} {
		f.write("../new", manifest("web", image))
		f.rename("../new", "a.yaml") // a file that is empty for long is logged too
		r.await("web=" + image)
	}
	warning := "sudo sysctl fs.inotify." + strings.Replace(limit, "inotify", "user", 1)
	if text := logged(); strings.Count(text, warning) != 1 || strings.Count(text, "\n") != 1 {
		t.Errorf("want %q once:\n%s", warning, text)
	}
}
