package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/config/etcdtest"
)

func TestEtcdChangesCompactedWhileCutOff(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	for _, name := range []string{"gone", "changed", "kept"} {
		s.Ctl("put", etcdPods+name, manifest("", "1"))
	}
	way := etcdtest.NewProxy(t, s)
	r := runEtcd(t, way.Endpoint())
	r.await("changed=1 gone=1 kept=1")
	way.Cut()
	s.Ctl("del", etcdPods+"gone")
	s.Ctl("put", etcdPods+"changed", manifest("", "2"))
	s.Ctl("put", etcdPods+"new", manifest("", "1"))
	put, err := s.Client().Put(t.Context(), "x", "")
	if err != nil {
		t.Fatal(err)
	}
	s.Ctl("compact", fmt.Sprint(put.Header.Revision))
	way.Mend()
	r.await("changed=2 kept=1 new=1")
	s.Ctl("put", etcdPods+"new", manifest("", "2"))
	r.await("changed=2 kept=1 new=2")
	if len(r.errs) > 0 {
		t.Errorf("a compaction is no trouble: %q", r.errs)
	}
}

// awaitStatus waits until the status is good, and returns it.
func (r *etcdRun) awaitStatus(what string, good func(api.SourceStatus) bool) api.SourceStatus {
	r.t.Helper()
	var status api.SourceStatus
	r.awaitThat(what, func() bool {
		status = r.Status()
		return good(status)
	})
	return status
}

func TestEtcdKilledAndRestarted(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, pollEtcd)
	before := time.Now()
	s.Kill()
	r.await("web=1", "connection refused", s.Endpoint())
	first := r.awaitStatus("a failure", func(s api.SourceStatus) bool { return !s.FailingSince.IsZero() })
	again := r.awaitStatus("another failure", func(s api.SourceStatus) bool { return s.LastErrorAt.After(first.LastErrorAt) })
	switch {
	case !strings.Contains(again.LastError, "connection refused") || again.Pods != 1:
		t.Errorf("status: %s", again)
	case again.LastError != first.LastError:
		t.Errorf("the same trouble has other words: %q, later %q", first.LastError, again.LastError)
	case first.FailingSince.Before(before) || again.FailingSince != first.FailingSince:
		t.Errorf("killed at %v, failing since %v, and later since %v", before, first.FailingSince, again.FailingSince)
	case again.LastSuccess.IsZero() || again.LastSuccess.After(again.FailingSince):
		t.Errorf("failing since %v, last read whole at %v", again.FailingSince, again.LastSuccess)
	}
	s.Restart()
	r.await("web=1")
	r.awaitStatus("no failure", func(s api.SourceStatus) bool { return s.FailingSince.IsZero() })
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Ctl("del", etcdPods+"web")
	r.await("")
}

// The first update is sent between the list and the watch, so a test that has not
// received it yet knows where the source is.
func TestEtcdKilledBetweenListAndWatch(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	r := pollEtcd(t, s.Endpoint())
	for deadline := time.Now().Add(time.Minute); r.Status().LastSuccess.IsZero(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the keys are not listed: %s", r.Status())
		}
	}
	s.Kill()
	r.await("web=1")
	r.await("web=1", "connection refused")
	s.Restart()
	r.await("web=1")
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
}

func TestEtcdHungServer(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, pollEtcd)
	s.Pause()
	r.await("web=1", "do not answer")
	s.Resume()
	r.await("web=1")
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
}

func TestEtcdReplacedByAnEmptyOne(t *testing.T) {
	for word, restart := range map[string]func(*etcdtest.Server){
		"this is cluster": (*etcdtest.Server).RestartEmpty,
		"has gone back":   (*etcdtest.Server).RestartEmptySameID,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s, r := webOnEtcd(t, pollEtcd)
			s.Kill()
			restart(s)
			r.await("web=1", word, "restart the kubelet")
			// Nothing that the new one says counts.
			for range 10 {
				s.Ctl("put", etcdPods+"new", manifest("", "1"))
			}
			seen := r.Status().LastErrorAt
			status := r.awaitStatus("more lists", func(s api.SourceStatus) bool { return s.LastErrorAt.After(seen) })
			if show(r.last.Pods) != "web=1" || status.Pods != 1 || !strings.Contains(status.LastError, word) {
				t.Errorf("pods %q, status %s", show(r.last.Pods), status)
			}
		})
	}
}

// The list is old, and by it alone the empty etcd would be ahead of the lost one.
func TestEtcdReplacedSinceTheLatestList(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	r := newEtcdRun(t, []string{s.Endpoint()}, "", 3*time.Second)
	r.await("")
	for range 20 {
		s.Ctl("put", etcdPods+"web", manifest("", "1"))
	}
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Kill()
	s.RestartEmptySameID()
	for range 10 {
		s.Ctl("put", "x", "")
	}
	r.await("web=2", "has gone back")
}
