package config

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

// newUserTest starts an etcd with users and returns the source of one, and the count of its logins.
func newUserTest(t *testing.T) (s *etcdtest.Server, source *SourceEtcd, logins func() float64) {
	t.Helper()
	s = etcdtest.Start(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	s.EnableAuth("host")
	source = newEtcdSource(t, frequently, etcdFile(t, fmt.Sprintf("endpoints: [%q]\nusername: kubelet\npassword: %s", s.Endpoint(), etcdtest.Password)))
	source.silence, source.patience = frequently, source.etcd.config.DialTimeout
	before := s.Authentications()
	return s, source, func() float64 { return s.Authentications() - before }
}

// Each login costs etcd much CPU, even after its caller has given up. The client needs one and its watch another.
func TestEtcdThatHangsIsNotHammeredWithLogins(t *testing.T) {
	t.Parallel()
	_, source, logins := newUserTest(t)
	w := tap(source)
	hold := func(method string) { w.locked(func() { w.held = method }) }
	hold("Authenticate")
	r := runSource(t, source)
	const busy = ": is etcd busy with the passwords of many hosts (client certificates need no such check), has the cluster lost its leader"
	r.await("", "its servers accept connections and do not answer a login"+busy)
	first := r.Status().LastErrorAt
	r.awaitStatus(func(s api.SourceStatus) bool { return s.LastErrorAt.After(first) })
	w.locked(func() {
		if w.logins != 1 {
			t.Errorf("there are %d logins while it waits for one", w.logins)
		}
	})
	hold("")
	r.await("web=1")
	hold("Range")
	r.await("web=1", "its servers accept connections and do not answer a list"+busy)
	hold("")
	r.await("web=1")
	if n := logins(); n > 2 {
		t.Errorf("there are %v logins", n)
	}
}

func TestEtcdClientIsOne(t *testing.T) {
	t.Parallel()
	s, source, logins := newUserTest(t)
	etcd := source.etcd
	s.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := etcd.Client(ctx)
			failed <- err
		}()
	}
	cancel()
	for range 2 {
		if err := unittest.Receive(t, failed, "Client waits for etcd although its context is done"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	s.Resume()
	before := logins()
	ctx, cancel = context.WithCancel(t.Context())
	first, err := etcd.Client(ctx)
	unittest.Must(t, err)
	cancel()
	second, err := etcd.Client(t.Context())
	unittest.Must(t, err)
	if _, err := second.Get(t.Context(), etcdList); err != nil || first != second || first.Ctx().Err() != nil || logins() != before+1 {
		t.Errorf("%p and %p, %v logins, error %v", first, second, logins()-before, err)
	}
}
