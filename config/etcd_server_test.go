package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"kubelet14/api"
	"kubelet14/config/etcdtest"
)

// manifestList returns a ContainerManifestList.
func manifestList(manifests ...string) string {
	text := "kind: ContainerManifestList\napiVersion: v1beta1\nitems:\n"
	for _, manifest := range manifests {
		text += "- " + strings.ReplaceAll(manifest, "\n", "\n  ") + "\n"
	}
	return text
}

func TestEtcdKeysArriveAsTheyChange(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, runEtcd)
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Ctl("put", etcdPods+"x", withUUID("some-uuid", manifest("db", "1")))
	r.await("web=2 db=1")
	s.Ctl("put", etcdList, manifestList(manifest("a", "1"), manifest("", "1")))
	r.await("a=1 2=1 web=2 db=1")
	s.Ctl("put", etcdList, manifestList(manifest("a", "2")))
	r.await("a=2 web=2 db=1")
	s.Ctl("del", etcdPods+"web")
	r.await("a=2 db=1")

	a, db := r.last.Pods[0], r.last.Pods[1]
	if a.Source != "etcd" || a.Namespace != api.NamespaceDefault || a.UID != api.NewUID("host", "etcd", api.NamespaceDefault, "a") || a.Origin != etcdList+" (item 1)" {
		t.Errorf("a pod of the list: %+v", a)
	}
	if db.UID != "some-uuid" || db.Origin != etcdPods+"x" {
		t.Errorf("a pod of a key: %+v", db)
	}
	s.Ctl("del", etcdList)
	r.await("db=1")
	s.Ctl("del", etcdPods+"x")
	r.await("")
}

func TestEtcdKeysOfNeighboursAreNotOurs(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	neighbours := []string{
		"/registry/hosts/host/kubelet-2", "/registry/hosts/host/kubelet-2/x", "/registry/hosts/host/kubelet2/x", "/registry/hosts/host/kubelet.x",
		"/registry/hosts/host2/kubelet/x", "/registry/hosts/hos/kubelet/x", "/registry/hosts/host/x",
	}
	put := func() {
		for i, key := range neighbours {
			s.Ctl("put", key, manifest(fmt.Sprintf("neighbour-%d", i), "1"))
		}
	}
	put()
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	r := runEtcd(t, s.Endpoint())
	r.await("web=1") // listed
	put()
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.awaitThat("news of web", func() bool { return !strings.Contains(show(r.last.Pods), "web=1") })
	if show(r.last.Pods) != "web=2" { // watched
		t.Errorf("pods: %s", show(r.last.Pods))
	}
}

func TestEtcdLeaseThatExpiresRemovesItsPod(t *testing.T) {
	t.Parallel()
	s, r := webOnEtcd(t, runEtcd)
	lease := strings.Fields(s.Ctl("lease", "grant", "1"))[1]
	s.Ctl("put", etcdPods+"leased", manifest("", "1"), "--lease="+lease)
	r.await("leased=1 web=1")
	r.await("web=1")
}

func TestEtcdBadValueKeepsTheLastGoodOne(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	s.Ctl("put", etcdList, manifestList(manifest("a", "1")))
	r := runEtcd(t, s.Endpoint())
	r.await("a=1 web=1")
	for i, bad := range []string{"bad: [", "", "{}", "<html>"} {
		image := fmt.Sprint(i)
		s.Ctl("put", etcdPods+"web", bad)
		r.await("a=1 web=1", etcdPods+"web")
		s.Ctl("put", etcdPods+"other", manifest("", image))
		r.await("a=1 other="+image+" web=1", etcdPods+"web")
		s.Ctl("put", etcdPods+"web", manifest("", "1"))
		r.await("a=1 other=" + image + " web=1")
		s.Ctl("del", etcdPods+"other")
		r.await("a=1 web=1")
	}
	for _, bad := range []string{"", "{}", manifestList(manifest("a", "2"), "bad: 1")} {
		s.Ctl("put", etcdList, bad)
		r.await("a=1 web=1", etcdList)
		s.Ctl("put", etcdList, manifestList(manifest("a", "1")))
		r.await("a=1 web=1")
	}
	s.Ctl("put", etcdList, "[]")
	r.await("web=1")
}

func TestEtcdPodUnderTwoKeys(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdPods+"second", manifest("web", "1"))
	r := runEtcd(t, s.Endpoint())
	r.await("web=1")
	s.Ctl("put", etcdPods+"first", manifest("web", "2"))
	r.await("web=1", etcdPods+"first", etcdPods+"second", "had it first")
	s.Ctl("del", etcdPods+"second")
	r.await("web=2")
}

func TestEtcdBurstEndsWithTheNewestValues(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	r := runEtcd(t, s.Endpoint())
	r.await("")
	var want []string
	for i := range 1000 {
		want = append(want, fmt.Sprintf("pod%03d=3", i))
	}
	var putting sync.WaitGroup
	for part := range slices.Chunk(want, 100) {
		putting.Go(func() {
			for _, image := range []string{"1", "2", "3"} {
				for _, pod := range part {
					if _, err := client.Put(t.Context(), etcdPods+pod[:6], manifest("", image)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	r.await(strings.Join(want, " "))
	putting.Wait()
}
