package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

// newRecordTest starts an etcd with the pod web, and returns a function that starts a source with the same file as the
// one before it, as a restarted kubelet does.
func newRecordTest(t *testing.T) (s *etcdtest.Server, file string, start func(set ...func(*SourceEtcd)) *run) {
	t.Helper()
	s, file = etcdtest.Start(t), filepath.Join(t.TempDir(), "etcd")
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	return s, file, func(set ...func(*SourceEtcd)) *run {
		source := newEtcdSource(t, frequently, "", s.Endpoint())
		source.Record = file
		for _, set := range set {
			set(source)
		}
		return runSource(t, source)
	}
}

// accept puts the key that accepts etcd as it is.
func accept(s *etcdtest.Server, at time.Time) { s.Ctl("put", acceptKey, at.Format(time.RFC3339Nano)) }

// A source that has not read the pods of the former etcd does not believe the new one either.
func TestEtcdIsReplacedWhileTheKubeletIsDown(t *testing.T) {
	for word, restart := range map[string]func(*etcdtest.Server){
		"this is cluster": (*etcdtest.Server).RestartEmpty,
		"has gone back":   (*etcdtest.Server).RestartEmptySameID,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s, file, start := newRecordTest(t)
			s.Ctl("put", etcdPods+"db", manifest("", "1"))
			r := start()
			r.await("db=1 web=1")
			r.stop()
			before := time.Now()
			s.Kill()
			restart(s)
			for range 2 {
				r = start()
				r.await("", word, `etcdctl put /registry/accept "$(date -Iseconds)"`, "-etcd_accept")
				r.stop()
				for range 10 { // its revision becomes higher than that of the former one
					s.Ctl("put", etcdPods+"web", manifest("", "2"))
				}
			}
			r = start(func(s *SourceEtcd) { s.ReadOnly, s.Accept = true, true })
			r.await("web=2")
			r.stop()
			s.Ctl("put", acceptKey, "yes")
			r = start()
			r.await("", word, `that key has "yes" now, which is no time`)
			r.stop()
			accept(s, before.Add(-time.Hour))
			r = start()
			r.await("", word, "does not count: it is not after the last good list, of "+before.Format("2006-01-02T"))
			r.stop()
			accept(s, time.Now())
			r = start()
			r.await("web=2")
			r.stop()
			start().await("web=2") // it is known now

			unittest.Must(t, os.WriteFile(file, []byte("{"), 0o600)) // as good as none
			start().await("web=2")
		})
	}
}

// A restore by etcd's documentation keeps the cluster's id and raises its revision.
func TestEtcdRestoredFromABackup(t *testing.T) {
	t.Parallel()
	s, _, start := newRecordTest(t)
	r := start()
	r.await("web=1")
	accept(s, time.Now().Add(-time.Second)) // of an incident before the backup
	backup := s.Backup()
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Kill()
	s.Restore(backup)
	r.await("web=2", "the key "+etcdPods+"web has gone back from revision", "does not count")
	r.stop()
	r = start()
	r.await("", "has gone back from revision")
	accept(s, time.Now())
	r.await("web=1")
	s.Ctl("put", etcdPods+"web", manifest("", "3")) // the watch is one of the new etcd
	r.await("web=3")
}

// A new etcd can be accepted before the source has seen it, but each acceptance holds for one etcd only.
func TestEtcdIsAcceptedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	s, _, start := newRecordTest(t)
	r := start()
	r.await("web=1")
	s.Kill()
	r.await("web=1", "connection refused")
	r.stop()
	s.RestartEmpty()
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	accept(s, time.Now().Add(time.Hour)) // a clock that is wrong
	r = start()
	r.await("web=2")
	if len(r.errs) > 0 {
		t.Errorf("errors: %q", r.errs)
	}
	s.Kill()
	s.RestartEmpty()
	accept(s, time.Now().Add(time.Minute)) // this was not put for the second one
	r.await("web=2", "this is cluster", "does not count")
}

func TestEtcdUserMayNotReadTheKeyThatAccepts(t *testing.T) {
	t.Parallel()
	s, file, start := newRecordTest(t)
	s.EnableAuth("host")
	unittest.Must(t, os.WriteFile(file, []byte(`{"cluster": 1, "revision": 1}`), 0o600))
	r := start(func(source *SourceEtcd) {
		source.etcd.config.Username, source.etcd.config.Password = "kubelet", etcdtest.Password
	})
	r.await("", "this is cluster", "this user may not read that key")
	_, command, _ := strings.Cut(r.Status().LastError, "that key: etcdctl ")
	accept(s, time.Now())
	s.Ctl(strings.Fields(strings.Replace(command, "ROLE", "kubelet", 1))...)
	r.await("web=1")
}

// The file is written when etcd has changed. Without it the source works all the same.
func TestEtcdRecordThatCannotBeWritten(t *testing.T) {
	logged := unittest.Log(t, "0")
	s, file, start := newRecordTest(t)
	unittest.Must(t, os.Mkdir(file, 0o755))
	r := start()
	r.await("web=1")
	for _, image := range []string{"2", "3"} {
		s.Ctl("put", etcdPods+"web", manifest("", image))
		r.await("web=" + image)
	}
	r.stop()
	if text := logged(); strings.Count(text, "will not be noticed: rename "+file) != 1 || strings.Count(text, "any is accepted: read "+file) != 1 {
		t.Errorf("log:\n%s", text)
	}
}

func TestEtcdRevisionIsThatOfTheHostsKeys(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	source := newEtcdSource(t, frequently, "", s.Endpoint())
	w, r := tap(source), runSource(t, source)
	var now int64
	expect := func(change string) {
		t.Helper()
		r.awaitThat(func() string {
			if got := source.Revision(); got != now {
				return fmt.Sprintf("after %s the revision is %d, want %d", change, got, now)
			}
			return ""
		})
	}
	for _, key := range []string{etcdList, etcdPods + "web", etcdPods + "db"} {
		put, err := client.Put(t.Context(), key, list(manifest("", "1")))
		unittest.Must(t, err)
		now = put.Header.Revision
		expect("a put of " + key)
	}
	deleted, err := client.Delete(t.Context(), etcdPods+"web")
	unittest.Must(t, err)
	now = deleted.Header.Revision
	expect("a deletion")
	for _, key := range []string{"/elsewhere", etcdList + "-2/web"} {
		_, err := client.Put(t.Context(), key, "1")
		unittest.Must(t, err)
		w.awaitLists(r)
		expect("a put of " + key)
	}
	_, err = client.Delete(t.Context(), etcdList+"-2/web") // which makes the source list all
	unittest.Must(t, err)
	w.awaitLists(r)
	expect("a deletion of another's key")
}

func TestEtcdPodsThatAreAllRemovedWaitForSeconds(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdList, listObject(manifest("a", "1"), manifest("b", "1")))
	etcd, err := OpenEtcd([]string{s.Endpoint()}, "")
	source := newEtcdSource(t, hourly, "", s.Endpoint())
	unittest.Must(t, err)
	if wait := NewSourceEtcd(etcd, testParser()).noPodsWait; wait > 5*time.Second {
		t.Errorf("their removal waits for %v, want at most 5s", wait)
	}
	source.noPodsWait = frequently
	r := runSource(t, source)
	r.await("a=1 b=1")
	s.Ctl("del", etcdList)
	doubted := false
	r.awaitThat(func() string {
		doubted = doubted || r.last.NoPods != nil
		if r.last.Op != api.SET || len(r.last.Pods) > 0 || r.last.NoPods != nil || !doubted {
			return "they are not removed, or without a doubt"
		}
		return ""
	})
}
