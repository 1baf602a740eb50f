package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/config/etcdtest"
)

func TestIntegrationOneIDInThreeSourcesIsThreePods(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	manifest := strings.ReplaceAll(emptyDirPod, "UUID\n", "")
	pods := []string{"pod.default.file", "pod.default.http", "pod.default.etcd"}
	for _, pod := range pods {
		h.put(pod, manifest)
	}
	h.startWith(h.from("file", "http", "etcd")...)
	var uids []string
	for _, pod := range pods {
		h.eventually(pod+" comes up", func() error { return h.whole(pod, "main", "writer") })
		uids = append(uids, h.uid(pod))
		log := filepath.Join(h.emptyDirs(h.uid(pod)), "data", "log")
		h.eventually("it has a volume that no other pod writes into", func() error { return fileHolds(log, "begun\n") })
	}
	slices.Sort(uids)
	if err := dirHolds(filepath.Join(h.rootDir, "pods"), slices.Compact(uids)); err != nil || len(h.ids()) != 9 {
		t.Errorf("the uids are %v: %v\n%s", uids, err, h.describe())
	}

	want := h.ids()
	for _, pod := range pods {
		h.replaces(want, "a change reaches "+pod, pod, func(container) { h.put(pod, strings.ReplaceAll(manifest, `"1"`, `"2"`)) })
	}
	for _, pod := range pods {
		h.drop(pod)
		h.removes(want, pod)
	}
}

// What a source that cannot be read wants is not known. So its pods stay as they are
// over a restart, and the pods of the other sources are looked after meanwhile.
// Each answer is what the kubelet finds when it starts, and is no reason to remove
// what it had started before. A removed file shows that it removes what it should.
func TestIntegrationAWebServerThatFailsLeavesThePodsAlone(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.http", "other.default.http")
	p := h.startWith(h.from("http")...)
	want := h.sleepersUp("pod.default.http", "other.default.http")

	log := len(p.log.String())
	h.web.stop()
	p.saysSince(log, "HTTP source", h.web.url(), "stay as they were", "connection refused")
	h.mends(want, "while the web server is down", "pod.default.http")
	h.web.start()
	p.saysSince(log, "HTTP source", h.web.url(), "is read again")
	for _, a := range []answer{{http.StatusNotFound, "[]"}, {http.StatusOK, ""}, {http.StatusOK, "null"}, {http.StatusOK, "[{version: v1beta1, id: pod, containers: []}, 7]"}} {
		h.web.says(&a)
		h.web.asked(3)
		h.mends(want, fmt.Sprintf("while the web server answers %d %q", a.status, a.body), "pod.default.http")
	}

	h.web.says(nil)
	h.drop("other.default.http")
	h.removes(want, "other.default.http")
	h.web.says(&answer{http.StatusOK, "[]"})
	h.removes(want, "pod.default.http")
}

func TestIntegrationEtcdThatDiesLeavesThePodsAlone(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	h.putSleepers("pod.default.etcd", "other.default.etcd")
	p := h.startWith(h.from("etcd")...)
	want := h.sleepersUp("pod.default.etcd", "other.default.etcd")

	log := len(p.log.String())
	h.etcd.Kill()
	h.mends(want, "when etcd has just died", "pod.default.etcd")
	p.saysSince(log, "Etcd source", h.etcd.Endpoint(), "stay as they were", "connection refused")
	h.mends(want, "while etcd is found to be dead", "pod.default.etcd")
	h.etcd.Restart()
	h.drop("other.default.etcd")
	h.removes(want, "other.default.etcd")
	p.saysSince(log, "Etcd source", h.etcd.Endpoint(), "is read again")
	h.mends(want, "when etcd is back", "pod.default.etcd")
}

func TestIntegrationKeysInEtcdStartAndStopPods(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	h.startWith(h.from("etcd")...)
	h.putSleepers("stays.default.etcd", "deleted.default.etcd")
	h.sleepersUp("stays.default.etcd", "deleted.default.etcd")

	client := h.etcd.Client()
	ctx, release := context.WithCancel(t.Context())
	lease, err := client.Grant(ctx, 3)
	if err != nil {
		t.Fatal(err)
	}
	alive, err := client.KeepAlive(ctx, lease.ID)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range alive {
		}
	}()
	if _, err := client.Put(ctx, h.key("leased"), strings.ReplaceAll(sleeper("leased"), "HELLO", helloImage), clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	want := h.sleepersUp("leased.default.etcd")
	h.drop("deleted.default.etcd")
	h.removes(want, "deleted.default.etcd")
	release()
	h.removes(want, "leased.default.etcd")
	h.mends(want, "when a lease has expired", "stays.default.etcd")
}

func TestIntegrationTwoKubeletsOnOneEtcdRunTheirOwnPods(t *testing.T) {
	t.Parallel()
	a, b := newSourcesHost(t), newSourcesHost(t)
	a.etcd = etcdtest.Start(t)
	b.etcd = a.etcd
	a.putSleepers("pod.default.etcd", "of-a.default.etcd")
	b.putSleepers("pod.default.etcd", "of-b.default.etcd")
	a.startWith(a.from("etcd")...)
	b.startWith(b.from("etcd")...)
	ofA := a.sleepersUp("pod.default.etcd", "of-a.default.etcd")
	ofB := b.sleepersUp("pod.default.etcd", "of-b.default.etcd")
	if len(ofA) != 4 || len(ofB) != 4 {
		t.Errorf("a kubelet has pods that are not its own: %v, %v", ofA, ofB)
	}
	a.drop("pod.default.etcd")
	a.removes(ofA, "pod.default.etcd")
	b.mends(ofB, "when the other kubelet's pod of its name is gone", "pod.default.etcd")
	a.mends(ofA, "when the other kubelet has mended a pod", "of-a.default.etcd")
}

// Two pods with one uuid would share their volumes.
func TestIntegrationAUUIDInTwoSourcesIsThatOfTheFirst(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := strings.ReplaceAll(emptyDirPod, "UUID", "uuid: "+h.hostname)
	h.put("pod.default.file", strings.ReplaceAll(manifest, "sleep]", "sleep, -ignore-term]"))
	h.putSleepers("other.default.file")
	p := h.startWith(h.from("file", "http")...)
	h.eventually("the first pod is up", func() error { return h.whole("pod.default.file", "main", "writer") })
	log := filepath.Join(h.emptyDirs(h.hostname), "data", "log")
	h.eventually("it has written into its volume", func() error { return fileHolds(log, "begun\n") })
	want := h.sleepersUp("other.default.file")

	h.put("pod.default.http", manifest)
	p.says("pod.default.http", "waits", h.hostname, "pod.default.file")
	h.mends(want, "while another pod wants its uuid", "pod.default.file")

	stubborn := h.stubborn("pod.default.file")
	h.drop("pod.default.file")
	h.logSays(stubborn, "asked to stop:")
	h.killAndAwait("other.default.file") // the kubelet goes on meanwhile
	if err := h.gone("pod.default.http"); err != nil {
		t.Errorf("the second pod does not wait for the end of the first: %v", err)
	}
	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: stubborn.id}); err != nil {
		t.Error(err)
	}
	h.eventually("the second pod takes over", func() error {
		if err := h.gone("pod.default.file"); err != nil {
			return err
		}
		return h.whole("pod.default.http", "main", "writer")
	})
	h.eventually("it goes on with the volume", func() error { return fileHolds(log, "begun\nbegun\n") })
}

// The kubelet reads first that the pod is not where it was, and later where it is.
