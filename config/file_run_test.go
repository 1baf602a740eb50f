package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// runTest is a running source, by the real clock. Its polls are an hour apart
// unless the test says otherwise, so that whatever it sees it saw by a hint.
type runTest struct {
	*fileTest
	updates chan api.PodUpdate
}

func startRunTest(t *testing.T, dir, path string, checkEvery time.Duration) *runTest {
	f := newFileTestAt(t, dir, path)
	f.SourceFile = NewSourceFile(path, checkEvery, testParser())
	return f.start()
}

// start runs the source until the test ends.
func (f *fileTest) start() *runTest {
	r := &runTest{f, make(chan api.PodUpdate)}
	ctx, stop := context.WithCancel(f.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx, r.updates)
	}()
	f.t.Cleanup(func() {
		stop()
		<-ended
	})
	return r
}

// await receives until the pods are as wanted, and the error has the word.
func (r *runTest) await(pods, word string) {
	r.t.Helper()
	deadline := time.After(20 * time.Second)
	for last := "nothing"; ; {
		select {
		case update := <-r.updates:
			if update.Op != api.SET {
				r.t.Fatalf("got a %v", update.Op)
			}
			text := ""
			if update.Err != nil {
				text = update.Err.Error()
			}
			last = show(update.Pods) + " " + text
			if show(update.Pods) == pods && strings.Contains(text, word) && (word == "") == (text == "") {
				return
			}
		case <-deadline:
			r.t.Fatalf("waited for %q and an error with %q; the last was %s", pods, word, last)
		}
	}
}

func TestRunSeesChangesInADirectory(t *testing.T) {
	dir := t.TempDir()
	r := startRunTest(t, dir, dir, time.Hour)
	r.await("", "")
	r.write("a.yaml", manifest("web", "1"))
	r.await("web=1", "")
	r.write("a.yaml", manifest("web", "2"))
	r.await("web=2", "")
	r.write("a.tmp", manifest("web", "3"))
	r.rename("a.tmp", "a.yaml")
	r.await("web=3", "")
	r.write("a.yaml", "bad: [")
	r.await("web=3", "a.yaml")
	r.remove("a.yaml")
	r.await("", "")
}

func TestRunSeesItsDirectoryReplaced(t *testing.T) {
	dir := t.TempDir()
	r := startRunTest(t, dir, filepath.Join(dir, "manifests"), time.Hour)
	r.await("", "no such file")
	r.must(os.Mkdir(r.path("manifests"), 0o755))
	r.write("manifests/a.yaml", manifest("web", "1"))
	r.await("web=1", "")
	r.rename("manifests", "old")
	r.await("web=1", "no such file")
	r.must(os.Mkdir(r.path("new"), 0o755))
	r.write("new/a.yaml", manifest("web", "2"))
	r.rename("new", "manifests")
	r.await("web=2", "")
	r.write("manifests/a.yaml", manifest("web", "3"))
	r.await("web=3", "")
}

func TestRunSeesItsLinkSwapped(t *testing.T) {
	dir := t.TempDir()
	r := startRunTest(t, dir, filepath.Join(dir, "manifests"), time.Hour)
	for _, version := range []string{"v1", "v2"} {
		r.must(os.Mkdir(r.path(version), 0o755))
		r.write(version+"/a.yaml", manifest("web", version))
		r.link(version, "next")
		r.rename("next", "manifests")
		r.await("web="+version, "")
	}
	r.write("v2/a.yaml", manifest("web", "v3"))
	r.await("web=v3", "")
}

func TestRunSeesChangesOfASingleFile(t *testing.T) {
	dir := t.TempDir()
	r := startRunTest(t, dir, filepath.Join(dir, "web.yaml"), time.Hour)
	r.await("", "no such file")
	r.write("web.yaml", manifest("web", "1"))
	r.await("web=1", "")
	r.write("new", manifest("web", "2"))
	r.rename("new", "web.yaml")
	r.await("web=2", "")
	r.write("web.yaml", manifest("web", "3"))
	r.await("web=3", "")
	r.remove("web.yaml")
	r.await("web=3", "no such file")
	r.write("target", manifest("web", "4"))
	r.link("target", "web.yaml")
	r.await("web=4", "")
}

func TestRunPollsWhatItCannotWatch(t *testing.T) {
	logged := captureLog(t)
	dir := t.TempDir()
	r := startRunTest(t, dir, filepath.Join(dir, "no", "parent", "yet"), time.Millisecond)
	r.await("", "no such file")
	r.must(os.MkdirAll(r.path("no/parent/yet"), 0o755))
	r.write("no/parent/yet/a.yaml", manifest("web", "1"))
	r.await("web=1", "")
	if text := logged(); strings.Count(text, "no such file") == 0 || !strings.Contains(text, "watch") {
		t.Errorf("log:\n%s", text)
	}
}

func TestRunEndsWhileNobodyReceives(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, dir)
	f.write("a.yaml", manifest("web", "1"))
	parsed := f.parsedSignal()
	f.start()
	<-parsed // there is something to send now; the test ends, and Run must too
}

// The receiver was busy during the first edit, and hears of the second only.
func TestRunSendsTheLatestOnly(t *testing.T) {
	dir := t.TempDir()
	f := newFileTestAt(t, dir, dir)
	parsed := f.parsedSignal()
	f.now = time.Now
	r := f.start()
	r.await("", "")
	for _, image := range []string{"1", "2"} {
		r.write("new", manifest("web", image))
		r.rename("new", "a.yaml")
		<-parsed
	}
	if update := <-r.updates; show(update.Pods) != "web=2" {
		t.Errorf("got %q", show(update.Pods))
	}
}

// parsedSignal returns a channel that gets a value for every file that is parsed.
// Whoever received it and then receives an update has one that knows the file.
func (f *fileTest) parsedSignal() <-chan struct{} {
	parsed := make(chan struct{})
	podsOf := f.podsOf
	f.podsOf = func(file string, data []byte) ([]api.Pod, error) {
		defer func() { parsed <- struct{}{} }()
		return podsOf(file, data)
	}
	return parsed
}
