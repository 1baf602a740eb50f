package config

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/config/etcdtest"
)

// The keys of the tests' host.
const (
	etcdList = "/registry/hosts/host/kubelet"
	etcdPods = etcdList + "/"
)

// How often a source lists the keys without a hint.
const (
	hourly     = time.Hour // whatever it notices of changes it notices by its watch
	frequently = 50 * time.Millisecond
)

// runEtcd runs a source for endpoints or, without any, for what the file says.
func runEtcd(t *testing.T, pollInterval time.Duration, file string, endpoints ...string) *run {
	t.Helper()
	config, err := EtcdConfig(endpoints, file)
	must(t, err)
	source := NewSourceEtcd(config, testParser())
	source.pollInterval, source.config.DialTimeout = pollInterval, time.Second
	return runSource(t, source)
}

// webOnEtcd starts an etcd with the pod web, and a source that has read it. It gives
// the source the address of a server that is gone, too.
func webOnEtcd(t *testing.T, pollInterval time.Duration) (s *etcdtest.Server, r *run, gone string) {
	t.Helper()
	s, gone = etcdtest.Start(t), "http://"+etcdtest.ReserveAddress(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	r = runEtcd(t, pollInterval, "", gone, s.Endpoint())
	r.await("web=1")
	return s, r, gone
}

func TestEtcdKeysArriveAsTheyChange(t *testing.T) {
	t.Parallel()
	s, r, _ := webOnEtcd(t, hourly)
	for _, others := range []string{"host/kubelet-2/x", "host/kubelet.x", "host/kubelet0", "host2/kubelet/x", "hos/kubelet/x", "host/x"} {
		s.Ctl("put", "/registry/hosts/"+others, manifest("other", "1"))
	}
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Ctl("put", etcdPods+"x", withUUID("some-uuid", manifest("db", "1")))
	r.await("web=2 db=1")
	s.Ctl("put", etcdList, listObject(manifest("a", "1"), manifest("", "1")))
	r.await("a=1 2=1 web=2 db=1")
	s.Ctl("put", etcdList, listObject(manifest("a", "2")))
	r.await("a=2 web=2 db=1")
	a, db := r.last.Pods[0], r.last.Pods[2]
	if a.Source != "etcd" || a.Namespace != api.NamespaceDefault || a.UID != api.NewUID("host", "etcd", api.NamespaceDefault, "a") || a.Origin != etcdList+" (item 1)" {
		t.Errorf("a pod of the list: %+v", a)
	}
	if db.UID != "some-uuid" || db.Origin != etcdPods+"x" {
		t.Errorf("a pod of a key: %+v", db)
	}
	s.Ctl("del", etcdPods+"web")
	r.await("a=2 db=1")
	s.Ctl("del", etcdList) // in 2014 this removed nothing
	r.await("db=1")
	lease := strings.Fields(s.Ctl("lease", "grant", "1"))[1]
	s.Ctl("put", etcdPods+"leased", manifest("", "1"), "--lease="+lease)
	r.await("leased=1 db=1")
	r.await("db=1") // the lease has expired
	s.Ctl("del", etcdPods+"x")
	r.await("")
	if len(r.errs) > 0 {
		t.Errorf("errors: %q", r.errs)
	}
}

// What is wrong with a value. Whatever it is, the key's last good pods and those of
// other keys stay, and the error names the key.
func TestEtcdBadValueKeepsTheLastGoodPods(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	put := func(key, value string) {
		t.Helper()
		_, err := client.Put(t.Context(), key, value)
		must(t, err)
	}
	r := runEtcd(t, hourly, "", s.Endpoint())
	for _, test := range []struct{ key, value, word string }{
		{etcdPods + "b", "", "empty"},
		{etcdPods + "b", manifest("", "2") + "\n#" + strings.Repeat("x", api.MaxManifestBytes), "the limit is 1048576"},
		{etcdPods + "b", manifest("web", "2") + "\n---\n" + manifest("db", "2"), "2 manifests: put each into a key of its own"},
		{etcdPods + "b", manifest("other", "2"), etcdPods + "a"},
		{etcdList, "", "empty"},
		{etcdList, list(manifest("listed", "2"), "version: v9"), "v9"},
		{etcdList, list(manifest("listed", "2"), manifest("listed", "2")), `pod "listed"`},
		{etcdPods, manifest("", "2"), "give it an id"},
	} {
		put(etcdList, list(manifest("listed", "1")))
		put(etcdPods, manifest("slash", "1"))
		put(etcdPods+"a", manifest("other", "1"))
		put(etcdPods+"b", manifest("web", "1"))
		r.await("listed=1 slash=1 other=1 web=1")
		put(test.key, test.value)
		if test.word == etcdPods+"a" { // per pod: the key has given up web
			r.await("listed=1 slash=1 other=1", test.key, test.word)
			continue
		}
		r.await("listed=1 slash=1 other=1 web=1", test.key, test.word)
	}
}

func TestEtcdBurstEndsWithTheNewestValues(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	r := runEtcd(t, hourly, "", s.Endpoint())
	r.await("")
	var pods []string
	for i := range 200 {
		pods = append(pods, fmt.Sprintf("pod%03d", i))
	}
	var putting sync.WaitGroup
	putting.Go(func() {
		for _, image := range []string{"1", "2", "3"} {
			for _, pod := range pods {
				if _, err := client.Put(t.Context(), etcdPods+pod, manifest("", image)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	r.await(strings.Join(pods, "=3 ") + "=3")
	putting.Wait()
}
