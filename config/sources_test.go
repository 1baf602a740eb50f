package config

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/validation"
	"kubelet14/config/etcdtest"
)

// sourcesTest is all three sources in one PodConfig.
type sourcesTest struct {
	t       *testing.T
	dir     string
	http    *httpTest
	etcd    *etcdtest.Server
	sources []Source
	pods    *PodConfig
}

func newSourcesTest(t *testing.T) *sourcesTest {
	s := &sourcesTest{
		t: t, dir: t.TempDir(), http: newHTTPTestAt(t, "", (*httptest.Server).Start, nil), etcd: etcdtest.Start(t),
		pods: NewPodConfig(PodConfigNotificationSnapshotAndUpdates, validation.Rules{}),
	}
	config, err := EtcdConfig([]string{s.etcd.Endpoint()}, "")
	must(t, err)
	s.sources = []Source{NewSourceFile(s.dir, time.Hour, testParser()), s.http.source, NewSourceEtcd(config, testParser())}
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
	must(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

// await receives until an update is as wanted; see showUpdate. It returns all that it
// has received.
func (s *sourcesTest) await(want string) (got []api.PodUpdate) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	text := "nothing"
	for {
		select {
		case update := <-s.pods.Updates():
			got = append(got, update)
			if text += "\n" + showUpdate(update); showUpdate(update) == want {
				return got
			}
		case <-deadline:
			s.t.Fatalf("waited for %q, and got %s", want, text)
		}
	}
}

// Sources that do not answer or are bad keep their pods from being removed, and delay
// no other source. Once they were read they speak for their pods, also while they fail.
func TestSourcesThatFail(t *testing.T) {
	t.Parallel()
	s := newSourcesTest(t)
	s.write("web.yaml", "bad: [")
	s.etcd.Ctl("put", etcdPods+"db", manifest("db", "1"))
	hang, answer := context.WithCancel(t.Context())
	s.http.answer(func(http.ResponseWriter, *http.Request) { <-hang.Done(); panic(http.ErrAbortHandler) })
	s.start()
	got := s.await("SET db=1 unsynced:file unsynced:http")
	if _, unsynced := got[len(got)-1].Unsynced["http"]; !unsynced || got[len(got)-1].Unsynced["http"] != nil {
		t.Errorf("http has sent: %v", got[len(got)-1].Unsynced)
	}
	s.write("web.yaml", manifest("web", "1"))
	s.await("SET db=1 web=1 unsynced:http")
	s.etcd.Ctl("put", etcdPods+"db", manifest("db", "2"))
	s.await("UPDATE db=2 unsynced:http")
	s.http.body(manifest("more", "1"))
	answer()
	s.await("SET db=2 more=1 web=1")
	s.http.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	s.etcd.Ctl("put", etcdPods+"db", "bad: [")
	s.write("web.yaml", "bad: [")
	for _, source := range s.sources {
		for source.Status().FailingSince.IsZero() {
			time.Sleep(time.Millisecond)
		}
	}
	s.write("new.yaml", manifest("new", "1"))
	s.await("SET db=2 more=1 new=1 web=1")
}
