package config

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// sourcesTest is all three sources and what becomes of them in one PodConfig, by
// the real clock.
type sourcesTest struct {
	t       *testing.T
	dir     string
	http    *httpTest
	etcd    *fakeEtcd
	sources []Source
	pods    *PodConfig
}

// newSourcesTest has sources that have nothing to say yet.
func newSourcesTest(t *testing.T) *sourcesTest {
	s := &sourcesTest{
		t: t, dir: t.TempDir(), http: newHTTPTestAt(t, "", (*httptest.Server).Start), etcd: newFakeEtcd(),
		pods: NewPodConfig(PodConfigNotificationSnapshotAndUpdates, validation.Rules{}),
	}
	s.http.checkEvery = time.Millisecond
	s.http.body("[]")
	etcd := NewSourceEtcd(clientv3.Config{Endpoints: []string{"http://etcd:2379"}}, testParser())
	etcd.connect = s.etcd.connect
	etcd.why = func(context.Context) error { return nil }
	s.sources = []Source{NewSourceFile(s.dir, time.Hour, testParser()), s.http.SourceHTTP, etcd}
	return s
}

// start runs the sources until the test ends, as the program does.
func (s *sourcesTest) start() {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	channels := make([]chan<- api.PodUpdate, len(s.sources))
	for i, source := range s.sources {
		channels[i] = s.pods.Channel(ctx, source.Status().Source)
	}
	for i, source := range s.sources {
		running.Go(func() { source.Run(ctx, channels[i]) })
	}
	s.t.Cleanup(func() {
		cancel()
		running.Wait()
		s.pods.Wait()
	})
}

func (s *sourcesTest) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// await receives until a SET or UPDATE is as wanted; see showUpdate. It returns all
// that it has received.
func (s *sourcesTest) await(want string) []api.PodUpdate {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	var got []api.PodUpdate
	for {
		select {
		case update := <-s.pods.Updates():
			got = append(got, update)
			if showUpdate(update) == want {
				return got
			}
		case <-deadline:
			text := "nothing"
			for _, update := range got {
				text += "\n" + showUpdate(update)
			}
			s.t.Fatalf("waited for %q, and got %s", want, text)
		}
	}
}

// In 2014 two of them would have had no UID, and so been one pod.
func TestSourcesWithThePodOfTheSameName(t *testing.T) {
	s := newSourcesTest(t)
	s.write("web.yaml", manifest("web", "file"))
	s.http.body(manifest("web", "http"))
	s.etcd.put("/web", manifest("web", "etcd"))
	s.start()
	updates := s.await("SET web=etcd web=file web=http")
	uids := map[string]bool{}
	for _, pod := range updates[len(updates)-1].Pods {
		uids[pod.UID] = true
	}
	if len(uids) != 3 || uids[""] {
		t.Errorf("the UIDs are %v", uids)
	}
	s.etcd.delete("/web")
	s.await("SET web=file web=http")
	s.http.body("[]")
	s.await("SET web=file")
}

// The update that no longer names a source has all of its pods.
func TestSourcesAreSilentUntilTheySpeak(t *testing.T) {
	s := newSourcesTest(t)
	s.write("file.yaml", manifest("file", "1"))
	s.http.body(manifest("http", "1"))
	s.etcd.put("/etcd", manifest("etcd", "1"))
	s.start()
	for _, update := range s.await("SET etcd=1 file=1 http=1") {
		for _, source := range []string{"file", "http", "etcd"} {
			_, silent := update.Unsynced[source]
			has := slices.ContainsFunc(update.Pods, func(p api.Pod) bool { return p.Source == source })
			if silent == has {
				t.Errorf("source %s: %s", source, showUpdate(update))
			}
		}
	}
}

// A source that does not answer keeps its pods from being removed, and no other
// source from being heard.
func TestSourceThatDoesNotAnswerIsSilent(t *testing.T) {
	s := newSourcesTest(t)
	s.write("web.yaml", manifest("web", "1"))
	s.etcd.put("/db", manifest("db", "1"))
	ctx, answer := context.WithCancel(t.Context())
	s.http.answer(hijack(func(net.Conn) { <-ctx.Done() }))
	s.start()
	updates := s.await("SET db=1 web=1 silent:http")
	if err := updates[len(updates)-1].Unsynced["http"]; err != nil {
		t.Errorf("it has said %v", err)
	}
	s.write("web.yaml", manifest("web", "2"))
	s.await("UPDATE web=2 silent:http")
	s.etcd.delete("/db")
	s.await("SET web=2 silent:http")
	s.http.body("[]")
	answer() // not well; but the next time it is asked it is
	s.await("SET web=2")
}

func TestSourceThatFailsDelaysNoOther(t *testing.T) {
	const bad = "bad: ["
	fail := map[string]func(s *sourcesTest){
		"file": func(s *sourcesTest) { s.write("bad.yaml", bad) },
		"http": func(s *sourcesTest) { s.http.body(bad) },
		"etcd": func(s *sourcesTest) { s.etcd.refused = fmt.Errorf("connection refused") },
	}
	for source, fail := range fail {
		t.Run(source, func(t *testing.T) {
			s := newSourcesTest(t)
			var want []string
			if source != "etcd" {
				s.etcd.put("/etcd", manifest("etcd", "1"))
				want = append(want, "etcd=1")
			}
			if source != "file" {
				s.write("file.yaml", manifest("file", "1"))
				want = append(want, "file=1")
			}
			if source != "http" {
				s.http.body(manifest("http", "1"))
				want = append(want, "http=1")
			}
			fail(s)
			s.start()
			text := "SET " + strings.Join(want, " ") + " silent:" + source
			updates := s.await(text)
			// Its error may come later than the others' pods.
			for last := updates[len(updates)-1]; last.Unsynced[source] == nil; last = updates[len(updates)-1] {
				updates = s.await(text)
			}
		})
	}
}

// A source that has spoken speaks for its pods ever after, also when it fails.
func TestSourceThatFailsLaterKeepsItsPods(t *testing.T) {
	s := newSourcesTest(t)
	s.write("file.yaml", manifest("file", "1"))
	s.http.body(manifest("http", "1"))
	s.etcd.put("/etcd", manifest("etcd", "1"))
	s.start()
	s.await("SET etcd=1 file=1 http=1")
	s.http.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	s.etcd.put("/etcd", "bad: [")
	s.write("file.yaml", "bad: [")
	for _, source := range s.sources {
		poll(t, func() bool { return !source.Status().FailingSince.IsZero() })
	}
	s.write("more.yaml", manifest("more", "1"))
	s.await("SET etcd=1 file=1 http=1 more=1")
	for _, source := range s.sources {
		if status := source.Status(); status.Pods == 0 {
			t.Errorf("got %v", status)
		}
	}
}

// poll waits until the condition holds.
func poll(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to hold")
		}
	}
}
