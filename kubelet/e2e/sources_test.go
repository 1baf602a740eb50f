package e2e

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubelet14/config/etcdtest"
)

// One id in three sources is three pods.
func TestIntegrationOneIDInThreeSources(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.etcd = etcdtest.Start(t)
	pods := []string{"pod.default.file", "pod.default.http", "pod.default.etcd"}
	for _, pod := range pods {
		h.put(pod, emptyDirPod())
	}
	h.startFrom("file", "http", "etcd")
	var uids []string
	for _, pod := range pods {
		h.await(pod+" is up, and its volume is its own", func() error {
			if err := h.whole(pod, "main", "writer"); err != nil {
				return err
			}
			return fileHolds(filepath.Join(h.emptyDirs(h.uid(pod)), "data", "log"), "begun\n")
		})
		uids = append(uids, h.uid(pod))
	}
	slices.Sort(uids)
	h.check(dirHolds(filepath.Join(h.rootDir, "pods"), slices.Compact(uids)...))
	want := h.ids()
	for _, pod := range pods {
		old := h.live(pod, "main")
		h.put(pod, strings.ReplaceAll(emptyDirPod(), `"1"`, `"2"`))
		now := h.awaitReplaced(old)
		delete(want, old.name)
		want[now.name] = now.id
		h.mustBe("after an edit of "+pod, want)
	}
	for i, pod := range pods {
		h.drop(pod)
		h.awaitGone(pod)
		h.mustBe("when "+pod+" is gone", want, pods[:i+1]...)
	}
}

// The desired state of a source that cannot be read is not known. Its pods stay as they
// are, also over a restart, and those of other sources are looked after meanwhile.
func TestIntegrationAWebServerThatFails(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	h.putSleepers("pod.default.http", "other.default.http", "pod.default.file")
	p := h.startFrom("file", "http")
	h.awaitUp("pod.default.http", "other.default.http", "pod.default.file")
	want := h.ids()
	for _, bad := range []struct {
		status     int // 0: no answer
		body, says string
	}{
		{500, "[]", "500 Internal Server Error"},
		{200, "{}", "/pods.yaml:1:1"},
		{0, "", ""},
	} {
		h.web.answers(&answer{bad.status, bad.body})
		if bad.says != "" {
			p.awaitSource("http", bad.says)
		}
		h.mend("pod.default.file")
		h.mustBe("while the web server answers "+bad.says, want, "pod.default.file")
		p.kill()
		p = h.startFrom("file", "http")
		h.web.awaitRequests(1)
		if bad.says != "" {
			p.awaitSource("http", bad.says)
		}
		h.mend("pod.default.file")
		h.mustBe("after a restart while the web server answers "+bad.says, want, "pod.default.file")
	}
	h.drop("other.default.http")
	h.web.answers(nil)
	h.awaitGone("other.default.http")
	h.mustBe("when the web server is back", want, "pod.default.file", "other.default.http")

	// A source that has been read whole once may fail: its pods are still repaired.
	h.web.stop()
	p.awaitSource("http", h.web.address, "connection refused")
	h.mend("pod.default.http")
	h.web.start()
	p.awaitSource("http")
	h.web.answers(&answer{200, "[]"})
	h.awaitGone("pod.default.http")
	h.check(h.up("pod.default.file"))
}

func TestIntegrationAnEtcdThatDies(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.etcd = etcdtest.Start(t)
	all := []string{"pod.default.etcd", "other.default.etcd", "late.default.etcd", "stays.default.file", "leaves.default.file"}
	h.putSleepers(all...)
	p := h.startFrom("file", "etcd")
	h.awaitUp(all...)
	want := h.ids()
	h.etcd.Kill()
	p.awaitSource("etcd", "connection refused")
	h.mend("pod.default.etcd")
	h.etcd.Restart()
	h.drop("other.default.etcd")
	h.awaitGone("other.default.etcd")
	p.awaitSource("etcd")

	// The same over a restart.
	p.kill()
	h.drop("late.default.etcd")
	h.etcd.Kill()
	h.drop("leaves.default.file")
	p = h.startFrom("file", "etcd")
	p.awaitSource("etcd", "connection refused")
	h.awaitGone("leaves.default.file")
	h.mend("stays.default.file")
	h.mustBe("while etcd is away", want, "pod.default.etcd", "other.default.etcd", "leaves.default.file", "stays.default.file")
	h.etcd.Restart()
	h.awaitGone("late.default.etcd")
	h.mend("pod.default.etcd")

	// A source that is not given any more loses its pods.
	p.stop()
	h.startFrom("file")
	h.awaitGone("pod.default.etcd")
	h.check(h.up("stays.default.file"))
}

// Two pods with one uuid would share their volumes: the second one waits, and takes the
// volume over.
func TestIntegrationAPodMovesToAnotherSourceWithItsVolume(t *testing.T) {
	t.Parallel()
	h := newSourcesHost(t)
	manifest := emptyDirPod("uuid: " + h.hostname)
	h.put("pod.default.file", strings.ReplaceAll(manifest, "sleep]", "sleep, -ignore-term]"))
	h.putSleepers("other.default.file")
	p := h.startFrom("file", "http")
	volume := func(text string) func() error {
		return func() error { return fileHolds(filepath.Join(h.emptyDirs(h.hostname), "data", "log"), text) }
	}
	h.await("the first pod is up", func() error {
		return errors.Join(h.up("other"), h.whole("pod.default.file", "main", "writer"), volume("begun\n")())
	})
	want := h.ids()
	h.put("pod.default.http", manifest)
	p.awaitShows("pod.default.http", "failing", "UUIDTaken: ", h.hostname, "pod.default.file")
	h.mustBe("while another pod wants its uuid", want)

	stubborn := h.stubborn("pod.default.file")
	h.drop("pod.default.file")
	h.awaitLogOf(stubborn, "asked to stop:")
	h.mend("other")
	if err := h.gone("pod.default.http"); err != nil {
		t.Errorf("the second pod does not wait for the end of the first: %v", err)
	}
	h.kill("pod.default.file", "main")
	h.await("the second pod takes over", func() error {
		return errors.Join(h.gone("pod.default.file"), h.whole("pod.default.http", "main", "writer"), volume("begun\nbegun\n")())
	})

	// Back again over a restart: the kubelet reads first that the pod is not where it
	// was, and later where it is.
	p.stop()
	h.drop("pod.default.http")
	h.put("pod.default.file", manifest)
	h.web.answers(&answer{}) // nothing yet
	p = h.startFrom("file", "http")
	p.awaitShows("pod", "failing", "UUIDTaken: ")
	h.check(h.whole("pod.default.http", "main", "writer"))
	h.web.answers(nil)
	h.await("the pod is up where it has moved to", func() error {
		return errors.Join(h.gone("pod.default.http"), h.whole("pod.default.file", "main", "writer"), volume("begun\nbegun\nbegun\n")())
	})
}
