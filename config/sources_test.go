package config

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/validation"
	"kubelet14/config/etcdtest"
)

// sourcesTest is all three sources in one PodConfig.
type sourcesTest struct {
	t      *testing.T
	dir    string
	http   *httpTest
	etcd   *etcdtest.Server
	pods   *PodConfig
	failed chan string // gets a source after each update of it with an error was merged
}

func newSourcesTest(t *testing.T) *sourcesTest {
	storage := newPodStorage(PodConfigNotificationSnapshotAndUpdates, validation.Rules{}, make(chan api.PodUpdate))
	s := &sourcesTest{
		t: t, dir: t.TempDir(), http: newHTTPTestAt(t, "", (*httptest.Server).Start, nil), etcd: etcdtest.Start(t),
		failed: make(chan string, 10),
	}
	s.pods = &PodConfig{storage, NewMux(func(ctx context.Context, source string, update api.PodUpdate) error {
		err := storage.Merge(ctx, source, update)
		if update.Err != nil {
			s.failed <- source
		}
		return err
	})}
	return s
}

// start runs the sources until the test ends, as the program does.
func (s *sourcesTest) start() {
	config, err := EtcdConfig([]string{s.etcd.Endpoint()}, "")
	must(s.t, err)
	sources := []Source{NewSourceFile(s.dir, time.Hour, testParser()), s.http.source, NewSourceEtcd(config, testParser())}
	s.pods.Start(s.t.Context(), sources...)
	s.t.Cleanup(s.pods.Wait)
}

func (s *sourcesTest) write(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

// await receives until an update is as wanted, and returns it; see showUpdate.
func (s *sourcesTest) await(want string) api.PodUpdate {
	s.t.Helper()
	deadline := time.After(time.Minute)
	text := "nothing"
	for {
		select {
		case update := <-s.pods.Updates():
			if text += "\n" + showUpdate(update); showUpdate(update) == want {
				return update
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
	s.http.answer(func(w http.ResponseWriter, _ *http.Request) { <-hang.Done(); io.WriteString(w, manifest("more", "1")) })
	s.start()
	first := s.await("SET db=1 unsynced:file unsynced:http")
	if err := first.Unsynced["http"]; err != nil {
		t.Errorf("http has sent: %v", err)
	}
	s.write("web.yaml", manifest("web", "1"))
	s.await("SET db=1 web=1 unsynced:http")
	s.etcd.Ctl("put", etcdPods+"db", manifest("db", "2"))
	s.await("UPDATE db=2 unsynced:http")
	answer()
	s.await("SET db=2 more=1 web=1")
	for len(s.failed) > 0 {
		<-s.failed // the file, before it was written anew
	}

	s.http.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	s.etcd.Ctl("put", etcdPods+"db", "bad: [")
	s.write("web.yaml", "bad: [")
	for failing := map[string]bool{}; len(failing) < 3; {
		select {
		case source := <-s.failed:
			failing[source] = true
		case update := <-s.pods.Updates():
			t.Fatalf("an update while sources fail: %s", showUpdate(update))
		}
	}
	s.write("new.yaml", manifest("new", "1"))
	s.await("SET db=2 more=1 new=1 web=1")
}
